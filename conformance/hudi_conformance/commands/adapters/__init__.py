"""Commands for engines and their adapters: engines, doctor, smoke, new-engine, object-store."""
