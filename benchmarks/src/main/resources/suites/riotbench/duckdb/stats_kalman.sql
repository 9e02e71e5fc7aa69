SELECT ts, source, field, value, estimate FROM kalman
