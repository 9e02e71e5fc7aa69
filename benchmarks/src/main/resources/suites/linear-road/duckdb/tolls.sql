SELECT xway, direction, segment, minute, lav, cars, toll FROM tolls
