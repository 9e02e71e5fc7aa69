SELECT ts, source, temperature, humidity, light, dust, airquality_raw, missing, place, kind FROM etl
