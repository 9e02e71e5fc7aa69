SELECT source, ts, source, temperature, humidity, place, epoch(ts) FROM etl
