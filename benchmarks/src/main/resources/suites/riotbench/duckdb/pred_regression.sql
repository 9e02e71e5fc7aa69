SELECT taxi, ts, 2.46 + 0.0052 * seconds + 2.04 * miles FROM trips
