"""The engines shipped with the suite; `registry` names them, `support` has what their adapters share."""
