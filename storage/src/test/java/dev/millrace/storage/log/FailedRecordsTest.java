package dev.millrace.storage.log;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** Which records failed, in whatever order that is found out. */
class FailedRecordsTest {
    @Test
    void whatFailedLaterMayHaveALowerNumber() {
        Random random = new Random(1);
        for (int round = 0; round < 300; round++) {
            FailedRecords failed = FailedRecords.NONE;
            Map<Long, String> reasons = new HashMap<>();
            for (int step = 0; step < 6; step++) {
                String reason = "reason " + step;
                List<Long> numbers = LongStream.generate(() -> random.nextInt(40))
                        .limit(random.nextInt(6))
                        .sorted()
                        .boxed()
                        .toList();
                failed = failed.with(numbers, MillraceException.user(SqlState.IO_ERROR, reason));
                numbers.forEach(number -> reasons.putIfAbsent(number, reason));
                for (long number = 0; number < 40; number++) {
                    assertEquals(reasons.containsKey(number), failed.contains(number));
                    if (failed.contains(number)) {
                        assertEquals(reasons.get(number), failed.error(number).getMessage());
                    }
                }
            }
        }
    }
}
