package dev.millrace.engine.epoch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.error.MillraceException;
import dev.millrace.scheduler.Signal;
import dev.millrace.scheduler.SteppedWorkers;
import dev.millrace.testing.time.TestClock;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

class ThrowingPublisherTest {
    private static final class Recorder implements EpochOutput.Publisher {
        final List<Long> stamped = new ArrayList<>();
        final List<Long> published = new ArrayList<>();
        boolean throwsInStamp;
        boolean throwsInPublish;

        @Override
        public void stamp(long epoch, long version) {
            if (throwsInStamp) {
                throw new IllegalStateException("in stamp");
            }
            stamped.add(epoch);
        }

        @Override
        public void publish(long epoch, OptionalLong sinceNanos) {
            if (throwsInPublish) {
                throw new OutOfMemoryError("in publish");
            }
            published.add(epoch);
        }
    }

    @Test
    void aPublisherThatThrowsHoldsUpNeitherTheOthersNorTheNextEpoch() {
        TestClock clock = new TestClock(1);
        Epochs epochs = new Epochs(new SteppedWorkers(1, clock), clock, 1_000_000, new Signal());
        EpochDomain domain = epochs.newDomain();
        Recorder bad = new Recorder();
        Recorder good = new Recorder();
        EpochOutput first = epochs.addOutput(domain, bad, () -> {});
        EpochOutput second = epochs.addOutput(domain, good, () -> {});
        EpochInput[] input = new EpochInput[1];
        input[0] = epochs.addInput(domain, () -> {
            for (OptionalLong epoch = input[0].takeClosing(); epoch.isPresent(); epoch = input[0].takeClosing()) {
                first.done(epoch.getAsLong());
                second.done(epoch.getAsLong());
            }
        });
        bad.throwsInStamp = true;
        assertThrows(MillraceException.class, () -> epochs.append(input[0], Journal.Entry.NONE, () -> {}));
        bad.throwsInStamp = false;
        bad.throwsInPublish = true;
        long version = second.version();
        assertThrows(MillraceException.class, () -> epochs.append(input[0], Journal.Entry.NONE, () -> {}));
        assertTrue(second.version() > version);
        bad.throwsInPublish = false;
        long last = epochs.append(input[0], Journal.Entry.NONE, () -> {})
                .orElseThrow()
                .epoch();
        assertEquals(3, good.published.size());
        assertEquals(good.stamped, good.published);
        assertEquals(last, bad.published.get(bad.published.size() - 1));
        assertTrue(epochs.isCommitted(last));
    }
}
