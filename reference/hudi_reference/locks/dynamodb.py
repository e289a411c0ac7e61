"""A lease in an item of a DynamoDB table, in the form of the lock client that Apache Hudi uses.

The item contains its owner, the duration of the lease, and a version that each renewal changes. No clocks of different machines
are compared: if a waiting process reads the same version for the duration of a lease, the lease has expired. Every write is
conditional; the service checks the condition in the same step.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from hudi_reference.clock import Clock
from hudi_reference.errors import AccessDenied, LockLost, StorageUnavailable
from hudi_reference.locks.settings import library, number_of, text_of
from hudi_reference.requirement import implements

#: The key attribute of the items, and the default name of the table.
KEY, TABLE = "key", "hudi_locks"
_DENIED = ("AccessDenied", "AuthFailure", "ExpiredToken", "IncompleteSignature", "InvalidAccessKeyId", "InvalidClientToken",
           "InvalidSignature", "MissingAuthentication", "SignatureDoesNotMatch", "UnrecognizedClient")  # fmt: skip


@dataclass(frozen=True)
class LockTable:
    """The table that stores leases: a boto3 client, its name, and how it is created if it does not exist."""

    client: Any
    name: str = TABLE
    billing: str = "PAY_PER_REQUEST"
    capacity: tuple[int, int] = (20, 10)
    creation_timeout: int = 600_000

    @classmethod
    def from_options(cls, options: Mapping[str, str]) -> "LockTable":
        """The table of the writer's settings; boto3 finds the credentials. Raises Misuse."""
        boto3, config = library("boto3"), library("botocore.config")

        prefix = "hoodie.write.lock.dynamodb."
        client = boto3.session.Session().client(  # not the default session, which is not thread-safe
            "dynamodb",
            region_name=text_of(options, f"{prefix}region"),
            endpoint_url=options.get(f"{prefix}endpoint_url"),
            config=config.Config(connect_timeout=5, read_timeout=10, retries={"total_max_attempts": 3}),
        )
        capacity = number_of(options, f"{prefix}read_capacity", 1), number_of(options, f"{prefix}write_capacity", 1)
        creation_timeout = number_of(options, f"{prefix}table_creation_timeout")
        return cls(
            client,
            text_of(options, f"{prefix}table", TABLE),
            text_of(options, f"{prefix}billing_mode"),
            capacity,
            creation_timeout,
        )

    def create(self) -> None:
        """Create the table if it does not exist, and wait until it is ready."""
        reads, writes = self.capacity
        paid = {"ProvisionedThroughput": {"ReadCapacityUnits": reads, "WriteCapacityUnits": writes}}
        with suppress(self.client.exceptions.ResourceInUseException):  # another process created it
            self.client.create_table(
                TableName=self.name,
                KeySchema=[{"AttributeName": KEY, "KeyType": "HASH"}],
                AttributeDefinitions=[{"AttributeName": KEY, "AttributeType": "S"}],
                BillingMode=self.billing,
                **(paid if self.billing == "PROVISIONED" else {}),
            )
        waits = {"Delay": 1, "MaxAttempts": max(1, self.creation_timeout // 1000)}
        self.client.get_waiter("table_exists").wait(TableName=self.name, WaiterConfig=waits)


class DynamoLease:
    """The lease with one key. `holder` is the unique name of this process; `validity` in milliseconds."""

    def __init__(self, table: LockTable, clock: Clock, holder: str, *, key: str, validity: int = 60_000) -> None:
        self.name = f"dynamodb {table.name}/{key}"
        self._table, self._clock, self._holder, self._validity = table, clock, holder, validity
        self._key = {KEY: {"S": key}}
        self._seen: tuple[str, int] | None = None

    @implements("LOCK-001", "LOCK-002", "LOCK-005")
    def take(self) -> bool:
        """Put the item if there is none, if it was released, or if its version has not changed for the duration of its
        lease.
        """
        with self._translated_errors():
            found = self._item()
            if found is None:
                return self._put("attribute_not_exists(#key)", {"#key": KEY}, {})
            if found["ownerName"]["S"] == self._holder:
                return self._put("ownerName = :me", {}, {":me": {"S": self._holder}})
            version = found["recordVersionNumber"]["S"]
            if "isReleased" not in found and not self._is_stale(version, int(found["leaseDuration"]["S"])):
                return False
            return self._put("recordVersionNumber = :seen", {}, {":seen": {"S": version}})

    @implements("LOCK-001")
    def renew(self) -> None:
        """Change the version."""
        with self._translated_errors():
            if not self._put("ownerName = :me", {}, {":me": {"S": self._holder}}):
                raise self._lease_lost()

    def give_back(self) -> None:
        """Delete the item."""
        with self._translated_errors():
            try:
                self._table.client.delete_item(
                    TableName=self._table.name, Key=self._key, ConditionExpression="ownerName = :me",
                    ExpressionAttributeValues={":me": {"S": self._holder}},
                )  # fmt: skip
            except self._table.client.exceptions.ConditionalCheckFailedException as error:
                raise self._lease_lost() from error

    def _item(self) -> dict[str, Any] | None:
        """The current item; creates the table if it does not exist."""
        request = {"TableName": self._table.name, "Key": self._key, "ConsistentRead": True}
        try:
            found = self._table.client.get_item(**request)
        except self._table.client.exceptions.ResourceNotFoundException:
            self._table.create()
            found = self._table.client.get_item(**request)
        item: dict[str, Any] | None = found.get("Item")
        return item

    def _is_stale(self, version: str, validity: int) -> bool:
        """Whether this process has observed this version for at least `validity` milliseconds of its own clock."""
        now = self._clock.now()
        if self._seen is None or self._seen[0] != version or self._seen[1] > now:
            self._seen = version, now
        return now - self._seen[1] >= validity

    def _put(self, condition: str, names: Mapping[str, str], values: Mapping[str, Any]) -> bool:
        """Write the item with this holder and a new version; False if the condition does not hold."""
        ours = {"ownerName": self._holder, "leaseDuration": str(self._validity), "recordVersionNumber": str(uuid4())}
        optional = {"ExpressionAttributeNames": names, "ExpressionAttributeValues": values}
        try:
            self._table.client.put_item(
                TableName=self._table.name, Item={**self._key, **{name: {"S": text} for name, text in ours.items()}},
                ConditionExpression=condition, **{name: given for name, given in optional.items() if given},
            )  # fmt: skip
        except self._table.client.exceptions.ConditionalCheckFailedException:
            return False
        return True

    def _lease_lost(self) -> LockLost:
        return LockLost(
            "the lease of the lock was lost", rule="LOCK-001", path=self.name, expected=f"owner {self._holder}",
            found="another owner, or none",
        )  # fmt: skip

    @contextmanager
    def _translated_errors(self) -> Iterator[None]:
        """Translate the errors of the service into those of the reference."""
        errors = library("botocore.exceptions")
        try:
            yield
        except (errors.BotoCoreError, errors.ClientError) as error:
            code = error.response["Error"]["Code"] if isinstance(error, errors.ClientError) else ""
            if isinstance(error, errors.NoCredentialsError) or any(word in code for word in _DENIED):
                raise AccessDenied(
                    "the lock service denied access", rule="LOCK-005", path=self.name, found=str(error),
                    expected="valid credentials with the right to read and write the table of locks",
                ) from error  # fmt: skip
            raise StorageUnavailable(
                "the lock service does not answer", rule="LOCK-005", path=self.name, expected="an answer", found=str(error),
                remedy="check hoodie.write.lock.dynamodb.endpoint_url and region, then try again",
            ) from error  # fmt: skip
