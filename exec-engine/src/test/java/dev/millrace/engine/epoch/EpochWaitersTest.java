package dev.millrace.engine.epoch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.scheduler.SchedulingPolicies;
import dev.millrace.scheduler.Signal;
import dev.millrace.scheduler.SteppedWorkers;
import dev.millrace.scheduler.WorkerThreads;
import dev.millrace.testing.time.TestClock;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

/** Who is told that something happened, and what is left of domains that all have left. */
final class EpochWaitersTest {
    private static final long EPOCH_MICROS = 100_000;
    private static final Runnable NOTHING = () -> {};

    private final TestClock clock = new TestClock(1_000_000);
    private final SteppedWorkers workers = new SteppedWorkers(1, clock);
    private final Signal signal = new Signal();
    private final Epochs epochs = new Epochs(workers, clock, 1_000 * EPOCH_MICROS, signal);

    /** Notes what it shows. */
    private static final class Shown implements EpochOutput.Publisher {
        final List<Long> epochs = new ArrayList<>();

        @Override
        public void stamp(long epoch, long version) {}

        @Override
        public void publish(long epoch, OptionalLong sinceNanos) {
            epochs.add(epoch);
        }
    }

    private static void end(EpochInput input) {
        while (input.takeClosing().isPresent()) {
            // all that it has to end
        }
    }

    /** Somebody who waits for something that does not come, and looks again whenever told to. */
    private final class Waiter implements AutoCloseable {
        private final TestClock stopped = new TestClock(0);
        private final WorkerThreads waiting = new WorkerThreads(1, SchedulingPolicies.named("fcfs"), stopped);
        private final AtomicInteger looks = new AtomicInteger();
        private final Thread thread = new Thread(this::look, "waiter");

        Waiter() {
            thread.setDaemon(true);
            thread.start();
            awaitLook(0);
        }

        private void look() {
            try {
                waiting.await(signal, () -> looks.incrementAndGet() < 0, Long.MAX_VALUE);
            } catch (InterruptedException e) {
                // as close says
            }
        }

        private void awaitLook(int before) {
            for (int i = 0; i < 10_000 && looks.get() <= before; i++) {
                Thread.yield();
                LockSupport.parkNanos(100_000);
            }
            assertTrue(looks.get() > before, "nobody was told");
        }

        void awaitRest() {
            while (thread.getState() != Thread.State.TIMED_WAITING) {
                Thread.yield();
            }
        }

        /** Runs something after which those who wait are to look again. */
        void isToldOf(Runnable action) {
            awaitRest();
            int before = looks.get();
            action.run();
            awaitLook(before);
        }

        @Override
        public void close() {
            thread.interrupt();
            waiting.close();
        }
    }

    @Test
    void thoseWhoWaitAreToldWhenAnInputEndsAnEpochThatNoOutputHas() {
        EpochDomain domain = epochs.newDomain();
        EpochInput input = epochs.addInput(domain, NOTHING);
        long epoch =
                epochs.append(input, Journal.Entry.NONE, NOTHING).orElseThrow().epoch();
        try (Waiter waiter = new Waiter()) {
            waiter.isToldOf(() -> end(input));
        }
        assertTrue(epochs.isCommitted(epoch));
    }

    @Test
    void thoseWhoWaitAreToldWhenAnInputLeaves() {
        EpochDomain domain = epochs.newDomain();
        EpochInput input = epochs.addInput(domain, NOTHING);
        long epoch =
                epochs.append(input, Journal.Entry.NONE, NOTHING).orElseThrow().epoch();
        try (Waiter waiter = new Waiter()) {
            waiter.isToldOf(input::leave);
        }
        assertTrue(epochs.isCommitted(epoch));
    }

    @Test
    void thoseWhoWaitAreToldWhenRowsFlowAgain() {
        EpochDomain domain = epochs.newDomain();
        epochs.hold(List.of(domain));
        try (Waiter waiter = new Waiter()) {
            waiter.isToldOf(() -> epochs.release(List.of(domain)));
        }
    }

    @Test
    void thoseWhoWaitForOneOutputAreToldBeforeAnotherHasPublished() {
        EpochDomain domain = epochs.newDomain();
        try (Waiter waiter = new Waiter()) {
            int[] looks = new int[1];
            Shown shown = new Shown();
            EpochOutput.Publisher quick = new EpochOutput.Publisher() {
                @Override
                public void stamp(long epoch, long version) {}

                @Override
                public void publish(long epoch, OptionalLong sinceNanos) {
                    waiter.awaitRest();
                    looks[0] = waiter.looks.get();
                }
            };
            EpochOutput first = epochs.addOutput(domain, quick, NOTHING);
            EpochOutput.Publisher slow = new EpochOutput.Publisher() {
                @Override
                public void stamp(long epoch, long version) {
                    waiter.awaitLook(looks[0]);
                    assertTrue(epochs.isPublished(first, epoch));
                }

                @Override
                public void publish(long epoch, OptionalLong sinceNanos) {
                    shown.publish(epoch, sinceNanos);
                }
            };
            EpochOutput last = epochs.addOutput(domain, slow, NOTHING);
            waiter.isToldOf(() -> epochs.touch(last)); // without inputs both publish at once, in their order
            assertEquals(1, shown.epochs.size());
        }
    }

    /** As a query does that feeds itself: with the lock held it is only noted what is to be published. */
    @Test
    void whatIsDoneWhenTheTimeIsOverIsPublishedThen() {
        EpochDomain domain = epochs.newDomain();
        Shown shown = new Shown();
        EpochOutput output = epochs.addOutput(domain, shown, NOTHING);
        EpochInput[] input = new EpochInput[1];
        input[0] =
                epochs.addInput(domain, () -> output.done(input[0].takeClosing().orElseThrow()));
        input[0].arrived(); // and stays busy
        assertEquals(List.of(), shown.epochs);
        clock.advance(EPOCH_MICROS);
        assertTrue(workers.step());
        assertEquals(1, shown.epochs.size());
    }

    @Test
    void aDomainWithoutInputsShowsAtOnceWhatIsClosedWhenItIsHeld() {
        EpochDomain domain = epochs.newDomain();
        Shown shown = new Shown();
        epochs.addOutput(domain, shown, NOTHING);
        epochs.hold(List.of(domain));
        assertEquals(1, shown.epochs.size());
        assertTrue(epochs.isQuiet(List.of(domain)));
    }

    /** What was there of a domain, which is let go of but by the epochs. */
    private WeakReference<EpochDomain> leave(boolean inputFirst, boolean withEpoch) {
        EpochDomain domain = epochs.newDomain();
        EpochInput input = epochs.addInput(domain, NOTHING);
        EpochOutput output = epochs.addOutput(domain, new Shown(), NOTHING);
        Cut cut = epochs.cut(List.of(output));
        if (withEpoch) {
            long epoch = epochs.append(input, Journal.Entry.NONE, NOTHING)
                    .orElseThrow()
                    .epoch();
            clock.advance(EPOCH_MICROS);
            while (workers.step()) {
                // timers know their domains
            }
            end(input);
            assertEquals(List.of(epoch), epochs.pending());
        }
        if (inputFirst) {
            input.leave();
            output.leave();
        } else {
            output.leave();
            input.leave();
        }
        assertEquals(withEpoch ? 1 : 0, epochs.pending().size());
        cut.close();
        assertEquals(List.of(), epochs.pending());
        return new WeakReference<>(domain);
    }

    private static void assertForgotten(WeakReference<EpochDomain> domain) {
        for (int i = 0; i < 20 && domain.get() != null; i++) {
            System.gc();
        }
        assertNull(domain.get(), "it is kept for ever");
    }

    @Test
    void aDomainThatAllHaveLeftIsForgotten() {
        assertForgotten(leave(true, false));
        assertForgotten(leave(false, false));
    }

    @Test
    void aDomainThatAllHaveLeftIsForgottenOnceItsLastEpochIsPublished() {
        assertForgotten(leave(true, true));
        assertForgotten(leave(false, true));
    }

    @Test
    void aDomainInWhichSomebodyIsIsNotForgotten() {
        EpochDomain domain = epochs.newDomain();
        EpochInput input = epochs.addInput(domain, NOTHING);
        EpochOutput output = epochs.addOutput(domain, new Shown(), NOTHING);
        EpochInput other = epochs.addInput(domain, NOTHING);
        other.leave();
        other.leave(); // once more
        input.arrived();
        assertEquals(1, epochs.pending().size());
        input.leave(); // its rows are closed with it
        output.leave();
        EpochOutput alone = epochs.addOutput(domain, new Shown(), NOTHING);
        EpochOutput second = epochs.addOutput(domain, new Shown(), NOTHING);
        second.leave();
        Cut cut = epochs.cut(List.of(alone));
        long epoch = epochs.touch(alone);
        assertEquals(List.of(epoch), epochs.pending());
        assertFalse(epochs.isCommitted(epoch));
        cut.close();
        assertTrue(epochs.isCommitted(epoch));
    }

    @Test
    void anInputThatRunsDryAfterItLeftCountsOnce() {
        EpochDomain domain = epochs.newDomain();
        EpochInput left = epochs.addInput(domain, NOTHING);
        EpochInput input = epochs.addInput(domain, NOTHING);
        left.arrived();
        left.leave();
        left.ranDry();
        end(input);
        long epoch =
                epochs.append(input, Journal.Entry.NONE, NOTHING).orElseThrow().epoch();
        assertEquals(OptionalLong.of(epoch), input.takeClosing()); // nobody is busy
        input.arrived();
        assertEquals(OptionalLong.empty(), input.takeClosing()); // it is
    }

    /** Three epochs that one input has not ended, and one more that is older than it should be. */
    private EpochInput slow(EpochDomain domain, EpochInput quick, List<EpochOutput> keepUp) {
        EpochInput slow = epochs.addInput(domain, NOTHING);
        for (int i = 0; i < 3; i++) {
            long epoch = epochs.append(quick, Journal.Entry.NONE, NOTHING)
                    .orElseThrow()
                    .epoch();
            end(quick);
            keepUp.forEach(output -> output.done(epoch));
        }
        epochs.append(quick, Journal.Entry.NONE, NOTHING);
        assertEquals(OptionalLong.empty(), quick.takeClosing());
        return slow;
    }

    private boolean closesWhatIsOld(EpochInput input) {
        clock.advance(2 * EPOCH_MICROS);
        while (workers.step()) {
            // one timer a step
        }
        return input.takeClosing().isPresent();
    }

    @Test
    void anOutputThatLeftIsNotOneThatIsBehind() {
        EpochDomain domain = epochs.newDomain();
        EpochInput quick = epochs.addInput(domain, NOTHING);
        EpochOutput output = epochs.addOutput(domain, new Shown(), NOTHING);
        EpochOutput other = epochs.addOutput(domain, new Shown(), NOTHING);
        Cut cut = epochs.cut(List.of(other)); // so that it leaves with something to be published
        slow(domain, quick, List.of(output));
        other.leave();
        assertTrue(closesWhatIsOld(quick)); // for the one that keeps up
        cut.close();
    }

    @Test
    void anOutputThatKeptUpAndLeftIsNotCountedTwice() {
        EpochDomain domain = epochs.newDomain();
        EpochInput quick = epochs.addInput(domain, NOTHING);
        EpochOutput output = epochs.addOutput(domain, new Shown(), NOTHING);
        EpochOutput other = epochs.addOutput(domain, new Shown(), NOTHING);
        Cut cut = epochs.cut(List.of(output));
        slow(domain, quick, List.of(other));
        other.leave();
        assertFalse(closesWhatIsOld(quick)); // the only one is behind
        cut.close();
    }

    @Test
    void anOutputIsBehindFromItsFirstEpochOn() {
        EpochDomain domain = epochs.newDomain();
        EpochInput quick = epochs.addInput(domain, NOTHING);
        EpochInput slow = epochs.addInput(domain, NOTHING);
        EpochOutput output = epochs.addOutput(domain, new Shown(), NOTHING);
        long last = 0;
        for (int i = 0; i < 3; i++) {
            output.done(last);
            last = epochs.append(quick, Journal.Entry.NONE, NOTHING)
                    .orElseThrow()
                    .epoch();
            end(quick);
        }
        epochs.append(quick, Journal.Entry.NONE, NOTHING);
        assertFalse(closesWhatIsOld(quick)); // it has one to publish
        output.done(last);
        assertTrue(closesWhatIsOld(quick));
        end(slow);
    }

    @Test
    void aDomainThatIsMergedAloneGoesOnWithNewNumbers() {
        EpochDomain domain = epochs.newDomain();
        EpochInput input = epochs.addInput(domain, NOTHING);
        Shown shown = new Shown();
        EpochOutput output = epochs.addOutput(domain, shown, NOTHING);
        epochs.hold(List.of(domain));
        long last = input.takeClosing().orElseThrow();
        output.done(last);
        EpochDomain merged = epochs.merge(List.of(domain));
        epochs.release(List.of(merged));
        long epoch =
                epochs.append(input, Journal.Entry.NONE, NOTHING).orElseThrow().epoch();
        assertTrue(epoch > last);
        end(input);
        output.done(epoch);
        assertEquals(List.of(last, epoch), shown.epochs);
    }
}
