package dev.millrace.scheduler.assignment;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

final class LoadMeterTest {
    private static final long SECOND = TimeUnit.SECONDS.toNanos(1);
    private static final long MILLI = TimeUnit.MILLISECONDS.toNanos(1);

    private static void period(LoadMeter meter, long arrived, long processed) {
        meter.arrived(arrived);
        meter.processed(processed, processed * MILLI);
        meter.endPeriod(SECOND);
    }

    @Test
    void moreThanIsProcessedIsMoreThanOne() {
        LoadMeter meter = new LoadMeter();
        assertEquals(0, meter.load());
        for (int i = 0; i < 20; i++) {
            period(meter, 2_500, 1_000);
        }
        assertEquals(2.5, meter.load(), 1e-3);
    }

    @Test
    void theLastPeriodWeighsHalf() {
        LoadMeter meter = new LoadMeter();
        period(meter, 800, 800);
        period(meter, 0, 0);
        assertEquals(.4, meter.load(), 1e-9);
        period(meter, 0, 0);
        assertEquals(.2, meter.load(), 1e-9);
    }

    @Test
    void halvesHaveAHalfAndTogetherTheWhole() {
        LoadMeter meter = new LoadMeter();
        period(meter, 900, 900);
        assertEquals(.45, meter.half().load(), 1e-9);
        assertEquals(.9, meter.half().plus(meter.half()).load(), 1e-9);
        LoadMeter quick = new LoadMeter();
        quick.arrived(1_000);
        quick.processed(1_000, 1_000 * MILLI / 10);
        quick.endPeriod(SECOND);
        assertEquals(1.0, meter.plus(quick).load(), 1e-9);
        assertEquals(0, new LoadMeter().plus(new LoadMeter()).load());
    }
}
