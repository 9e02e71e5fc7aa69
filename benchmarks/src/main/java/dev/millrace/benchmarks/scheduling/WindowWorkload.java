package dev.millrace.benchmarks.scheduling;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.BigIntVector;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.Float8Vector;
import org.apache.arrow.vector.IntVector;
import org.apache.arrow.vector.VarCharVector;

/**
 * What Klink's section 6 runs many of: a query over windows of three seconds, which has a stream of its own. Rows are made of random numbers; a query's answers begin with the
 * end of their window.
 */
enum WindowWorkload {
    /** Yahoo's streaming benchmark: views of advertisements, joined with their campaigns and counted by these. */
    YSB(
            "ad_id BIGINT, event_type TEXT, user_id BIGINT",
            "SELECT window_end, campaign_id, count(*) AS views FROM TUMBLE((SELECT e.ts, c.campaign_id FROM %s AS e"
                    + " JOIN campaigns FOR SYSTEM_TIME AS OF proctime() AS c ON e.ad_id = c.ad_id WHERE e.event_type = 'view'),"
                    + " DESCRIPTOR(ts), INTERVAL '3 seconds') GROUP BY campaign_id, window_start, window_end") {
        @Override
        List<String> tables() {
            return List.of(
                    "CREATE TABLE campaigns (ad_id BIGINT PRIMARY KEY, campaign_id BIGINT NOT NULL)",
                    "INSERT INTO campaigns SELECT n, n / 10 FROM generate_series(0, 999) AS ads(n)");
        }

        @Override
        List<FieldVector> columns(BufferAllocator allocator, int rows, SplittableRandom random) {
            String[] types = {"view", "click", "purchase"};
            BigIntVector ads = new BigIntVector("ad_id", allocator);
            VarCharVector events = new VarCharVector("event_type", allocator);
            BigIntVector users = new BigIntVector("user_id", allocator);
            for (int row = 0; row < rows; row++) {
                ads.setSafe(row, random.nextLong(1_000));
                events.setSafe(row, types[random.nextInt(types.length)].getBytes(StandardCharsets.UTF_8));
                users.setSafe(row, random.nextLong(1_000_000));
            }
            return List.of(ads, events, users);
        }
    },

    /** Linear Road: cars and their speed in each segment of three seconds, each second anew. */
    LINEAR_ROAD(
            "vehicle BIGINT, speed INT, xway INT, direction INT, segment INT",
            "SELECT window_end, xway, direction, segment, count(DISTINCT vehicle) AS cars, avg(speed) AS speed FROM HOP(TABLE %s,"
                    + " DESCRIPTOR(ts), INTERVAL '1 second', INTERVAL '3 seconds') GROUP BY xway, direction, segment, window_start, window_end") {
        @Override
        List<FieldVector> columns(BufferAllocator allocator, int rows, SplittableRandom random) {
            BigIntVector vehicles = new BigIntVector("vehicle", allocator);
            IntVector speeds = new IntVector("speed", allocator);
            IntVector ways = new IntVector("xway", allocator);
            IntVector directions = new IntVector("direction", allocator);
            IntVector segments = new IntVector("segment", allocator);
            for (int row = 0; row < rows; row++) {
                int vehicle = random.nextInt(5_000);
                vehicles.setSafe(row, vehicle);
                speeds.setSafe(row, random.nextInt(100));
                ways.setSafe(row, vehicle % 2);
                directions.setSafe(row, vehicle / 2 % 2);
                segments.setSafe(row, vehicle / 4 % 100);
            }
            return List.of(vehicles, speeds, ways, directions, segments);
        }
    },

    /** Taxi trips: how many, how far and for how much from each zone of a city. */
    NYC_TAXI(
            "zone INT, distance DOUBLE PRECISION, fare DOUBLE PRECISION, tip DOUBLE PRECISION",
            "SELECT window_end, zone, count(*) AS trips, avg(distance) AS distance, max(fare) AS fare, stddev(fare) AS spread,"
                    + " sum(tip) / sum(fare) AS tips FROM TUMBLE(TABLE %s, DESCRIPTOR(ts), INTERVAL '3 seconds')"
                    + " WHERE distance > 0.1 AND fare > 2 GROUP BY zone, window_start, window_end") {
        @Override
        List<FieldVector> columns(BufferAllocator allocator, int rows, SplittableRandom random) {
            IntVector zones = new IntVector("zone", allocator);
            Float8Vector distances = new Float8Vector("distance", allocator);
            Float8Vector fares = new Float8Vector("fare", allocator);
            Float8Vector tips = new Float8Vector("tip", allocator);
            for (int row = 0; row < rows; row++) {
                double distance = -2 * Math.log(1 - random.nextDouble());
                zones.setSafe(row, 1 + random.nextInt(265));
                distances.setSafe(row, distance);
                fares.setSafe(row, 3 + 2.5 * distance);
                tips.setSafe(row, random.nextDouble() * distance);
            }
            return List.of(zones, distances, fares, tips);
        }
    };

    private final String columns;
    private final String query;

    WindowWorkload(String columns, String query) {
        this.columns = columns;
        this.query = query;
    }

    /** Statements before all others. */
    List<String> tables() {
        return List.of();
    }

    /** The columns behind the time, the caller's to close. */
    abstract List<FieldVector> columns(BufferAllocator allocator, int rows, SplittableRandom random);

    /** Makes the stream and the query of a number. */
    List<String> of(int number) {
        return List.of(
                "CREATE STREAM " + stream(number) + " (ts TIMESTAMP, " + columns + ", WATERMARK FOR ts AS ts)",
                "CREATE CONTINUOUS QUERY " + name(number) + " AS " + String.format(Locale.ROOT, query, stream(number)));
    }

    static String stream(int number) {
        return "input_" + number;
    }

    static String name(int number) {
        return "query_" + number;
    }
}
