"""Files of the layout: `hoodie.properties`."""
