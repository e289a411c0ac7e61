"""A validation as one self-contained HTML page, with a picture of timeline and file groups."""

from hudi_conformance.report.html import template_environment
from hudi_conformance.report.site.table_picture import picture_of
from hudi_conformance.report.validation.folded import TITLES, counts, fold
from hudi_conformance.validator.checks.finding import SEVERITIES, UNSOUND
from hudi_conformance.validator.stored.table import StoredTable
from hudi_conformance.validator.validation import Validation
from hudi_reference.query.inspect import inspect_table


def to_page(validation: Validation, table: StoredTable) -> str:
    """The whole page."""
    folded = fold(validation.findings)
    sections = [
        (severity, TITLES[severity], [one for one in folded if one.first.severity == severity]) for severity in SEVERITIES
    ]
    return (
        template_environment()
        .get_template("validation.html.j2")
        .render(
            validation=validation,
            counts=counts(validation.findings),
            sections=[section for section in sections if section[2]],
            unsound=UNSOUND,
            picture=picture_of(inspect_table(table.properties, table.timeline, table.groups)),
        )
    )
