package dev.millrace.connectors.datagen;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.connector.Options;
import dev.millrace.connector.Source;
import dev.millrace.connectors.random.Draws;
import dev.millrace.error.MillraceException;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

class LinearRoadSourceTest {
    private static final long REPORTS = 100 * 1800; // half an hour
    private static final Traffic TRAFFIC = new Traffic(new Draws(1), 100, 2);

    @Test
    void eachCarReportsEveryThirtySecondsFromWhereItsSpeedTookIt() {
        Map<Long, Long> last = new HashMap<>();
        for (long report = 0; report < REPORTS; report++) {
            long vehicle = TRAFFIC.vehicle(report);
            int position = TRAFFIC.position(report);
            assertTrue(position >= 0 && position < 528_000, "position " + position);
            assertEquals(position / 5280, TRAFFIC.segment(report));
            Long before = last.put(vehicle, report);
            if (before != null) {
                assertEquals(30, TRAFFIC.second(report) - TRAFFIC.second(before));
                assertEquals(TRAFFIC.direction(before), TRAFFIC.direction(report));
                assertEquals(TRAFFIC.expressway(before), TRAFFIC.expressway(report));
                int moved = (TRAFFIC.position(report) - TRAFFIC.position(before)) * (1 - 2 * TRAFFIC.direction(report));
                assertEquals(44 * TRAFFIC.speedMph(before), moved);
            }
        }
        assertTrue(last.size() > 3_000, "cars come and go");
    }

    @Test
    void someCarsOfAPairStandAtOnePlaceAndMoveOn() {
        Map<String, Set<Long>> standing = new HashMap<>();
        Set<Long> stood = new HashSet<>();
        boolean movedOn = false;
        for (long report = 0; report < REPORTS; report++) {
            long vehicle = TRAFFIC.vehicle(report);
            if (TRAFFIC.speedMph(report) == 0) {
                String place = TRAFFIC.expressway(report) + "/" + TRAFFIC.direction(report) + "/" + TRAFFIC.lane(report)
                        + "/" + TRAFFIC.position(report);
                standing.computeIfAbsent(place, key -> new HashSet<>()).add(vehicle);
                stood.add(vehicle);
            } else {
                movedOn |= stood.contains(vehicle);
            }
        }
        assertTrue(standing.size() > 5 && movedOn);
        standing.values().forEach(cars -> assertEquals(2, cars.size()));
    }

    @Test
    void columnsMayBeDeclaredInAnyOrder() {
        Schema declared =
                Schema.of(new Field("speed", DataType.INTEGER, true), new Field("ts", DataType.TIMESTAMP, false));
        Source source = new LinearRoadSourceFactory().create(declared, new Options(Map.of("events", "10")));
        assertEquals(
                List.of("speed", "ts"),
                source.schema().fields().stream().map(Field::name).toList());
        assertEquals(
                9,
                new LinearRoadSourceFactory()
                        .create(new Schema(List.of()), new Options(Map.of()))
                        .schema()
                        .size());
    }

    @Test
    void whatCannotBeSaysSo() {
        Schema misspelt = Schema.of(new Field("sped", DataType.INTEGER, true));
        MillraceException unknown = assertThrows(
                MillraceException.class, () -> new LinearRoadSourceFactory().create(misspelt, new Options(Map.of())));
        assertEquals("did you mean \"speed\"?", unknown.hint().orElseThrow());
        Schema wrong = Schema.of(new Field("speed", DataType.TEXT, true));
        assertThrows(MillraceException.class, () -> new LinearRoadSourceFactory().create(wrong, new Options(Map.of())));
        assertThrows(
                MillraceException.class,
                () -> new LinearRoadSourceFactory().create(new Schema(List.of()), new Options(Map.of("rate", "7"))));
    }
}
