"""Files of the timeline: metadata of actions, the history and its manifests; valid and damaged ones."""
