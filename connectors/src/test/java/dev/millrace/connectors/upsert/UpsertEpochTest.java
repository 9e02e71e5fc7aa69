package dev.millrace.connectors.upsert;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.millrace.error.MillraceException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** What an epoch makes of each key. */
class UpsertEpochTest {
    private static final long SEED = Long.getLong("millrace.upsert.seed", 1);

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static Map<String, String> drained(UpsertEpoch epoch) {
        Map<String, String> all = new TreeMap<>();
        epoch.drain((key, value) -> all.put(
                new String(key, StandardCharsets.UTF_8),
                value == null ? "tombstone" : new String(value, StandardCharsets.UTF_8)));
        return all;
    }

    /** A table is changed at random; whoever applies what is drained has the table, whatever the order of an epoch's changes. */
    @Test
    void whoAppliesTheRecordsHasTheTable() {
        Random random = new Random(SEED);
        UpsertEpoch epoch = new UpsertEpoch(1 << 20);
        Map<String, String> table = new TreeMap<>();
        Map<String, String> read = new TreeMap<>();
        for (int round = 0; round < 500; round++) {
            Map<String, String> before = new HashMap<>(table);
            List<String[]> changes = new ArrayList<>();
            for (int i = random.nextInt(10); i >= 0; i--) {
                String key = "k" + random.nextInt(4);
                String old = table.remove(key);
                if (old != null) {
                    changes.add(new String[] {key, old, "-1"});
                }
                if (random.nextInt(3) > 0) {
                    String value = "v" + random.nextInt(3);
                    table.put(key, value);
                    changes.add(new String[] {key, value, "1"});
                }
            }
            Collections.shuffle(changes, random);
            changes.forEach(change -> epoch.add(bytes(change[0]), bytes(change[1]), Long.parseLong(change[2])));
            Map<String, String> records = drained(epoch);
            records.forEach((key, value) -> {
                if (value.equals("tombstone")) {
                    read.remove(key);
                } else {
                    read.put(key, value);
                }
            });
            assertEquals(table, read, "seed " + SEED + ", round " + round);
            records.forEach((key, value) ->
                    assertEquals(true, !value.equals(before.get(key)), "what did not change is not written: " + key));
        }
    }

    @Test
    void anEpochThatChangesTooMuchIsRefused() {
        UpsertEpoch epoch = new UpsertEpoch(10_000);
        MillraceException refused = assertThrows(MillraceException.class, () -> {
            for (int i = 0; i < 1_000; i++) {
                epoch.add(bytes("k" + i), bytes("v"), 1);
            }
        });
        assertEquals("53200", refused.sqlState().code());
    }
}
