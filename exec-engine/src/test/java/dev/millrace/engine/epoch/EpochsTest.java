package dev.millrace.engine.epoch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.scheduler.Signal;
import dev.millrace.scheduler.SteppedWorkers;
import dev.millrace.testing.time.TestClock;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Epochs by themselves, on a clock that is moved and without threads. */
final class EpochsTest {
    private static final long EPOCH_MICROS = 100_000;

    private final TestClock clock = new TestClock(1_000_000);
    private final SteppedWorkers workers = new SteppedWorkers(1, clock);
    private final Epochs epochs = new Epochs(workers, clock, 1_000 * EPOCH_MICROS, new Signal());
    private EpochDomain domain;
    private In in;
    private Out out;

    /** An input that counts how often it is woken. */
    private final class In {
        final EpochInput input;
        int woken;

        In(EpochDomain of) {
            input = epochs.addInput(of, () -> woken++);
        }

        long append() {
            return epochs.append(input, Journal.Entry.NONE, () -> {})
                    .orElseThrow()
                    .epoch();
        }

        /** Ends what it has to end; returns the epochs. */
        List<Long> end() {
            List<Long> ended = new ArrayList<>();
            for (OptionalLong epoch = input.takeClosing(); epoch.isPresent(); epoch = input.takeClosing()) {
                ended.add(epoch.getAsLong());
            }
            return ended;
        }
    }

    /** An output that notes what it shows. */
    private final class Out implements EpochOutput.Publisher {
        final EpochOutput output;
        final List<Long> stamped = new ArrayList<>();
        final List<Long> published = new ArrayList<>();
        final List<Long> versions = new ArrayList<>();
        OptionalLong since = OptionalLong.empty();
        int woken;

        Out(EpochDomain of) {
            output = epochs.addOutput(of, this, () -> woken++);
        }

        @Override
        public void stamp(long epoch, long version) {
            assertTrue(version > output.version(), "it is not current before it is stamped");
            stamped.add(epoch);
            versions.add(version);
        }

        @Override
        public void publish(long epoch, OptionalLong sinceNanos) {
            assertEquals(output.version(), versions.get(versions.size() - 1));
            published.add(epoch);
            since = sinceNanos;
        }
    }

    @BeforeEach
    void open() {
        domain = epochs.newDomain();
        in = new In(domain);
        out = new Out(domain);
    }

    /** Others can go on, whatever was called. */
    @AfterEach
    void noLockIsHeld() throws InterruptedException {
        Thread other = new Thread(() -> {
            epochs.pending();
            epochs.atOneInstant(() -> 1);
            out.output.exclusively(() -> {});
        });
        other.setDaemon(true);
        other.start();
        other.join(10_000);
        assertFalse(other.isAlive(), "a lock is held");
    }

    private void runTimers() {
        while (workers.step()) {
            // one timer a step
        }
    }

    @Test
    void anEpochIsPublishedByEachOutputThatIsDoneAndCommittedOnceAllAre() {
        Out other = new Out(domain);
        List<String> ran = new ArrayList<>();
        long epoch = epochs.append(in.input, Journal.Entry.NONE, () -> ran.add("rows"))
                .orElseThrow()
                .epoch();
        assertEquals(List.of("rows"), ran);
        assertEquals(1, in.woken);
        assertEquals(List.of(epoch), epochs.pending());
        assertFalse(epochs.isPublished(out.output, epoch + 1), "an open one is before those that come");
        assertEquals(List.of(epoch), in.end());
        assertFalse(epochs.isPublished(out.output, epoch));
        out.output.done(epoch);
        assertEquals(List.of(epoch), out.published);
        assertEquals(out.stamped, out.published);
        assertEquals(OptionalLong.of(1_000_000_000), out.since);
        assertTrue(epochs.isPublished(out.output, epoch));
        assertFalse(epochs.isPublished(other.output, epoch));
        assertFalse(epochs.isCommitted(epoch));
        other.output.done(epoch);
        assertTrue(epochs.isCommitted(epoch));
        assertEquals(List.of(), epochs.pending());
        assertTrue(other.output.version() > out.output.version());
        assertTrue(in.append() > epoch);
    }

    @Test
    void anEpochIsNotCommittedBeforeItsInputsHaveEndedIt() {
        long epoch = in.append();
        out.output.done(epoch);
        assertTrue(epochs.isPublished(out.output, epoch));
        assertFalse(epochs.isCommitted(epoch));
        assertEquals(List.of(epoch), in.end());
        assertTrue(epochs.isCommitted(epoch));
    }

    @Test
    void severalEpochsArePublishedInTheirOrder() {
        List<Long> all = List.of(in.append(), in.append(), in.append());
        long open = in.append(); // no more than three are closed and not committed
        assertEquals(all, in.end());
        assertEquals(
                List.of(all.get(0), all.get(1), all.get(2), open),
                epochs.pending().stream().sorted().toList());
        out.output.done(all.get(2));
        assertEquals(all, out.published);
        assertEquals(List.of(open), in.end());
        assertTrue(epochs.isPublished(out.output, all.get(2)));
        assertFalse(epochs.isPublished(out.output, open));
        assertFalse(epochs.isPublished(out.output, open + 1), "one of others that comes after one of its own");
        out.output.done(all.get(0)); // it was done with more
        assertEquals(all, out.published);
        out.output.done(open);
        assertEquals(4, out.published.size());
        assertTrue(epochs.pending().isEmpty());
    }

    @Test
    void anEpochIsOpenWhileRowsAreAtHand() {
        In other = new In(domain);
        in.input.arrived();
        in.input.arrived();
        long epoch = other.append();
        assertEquals(0, in.woken);
        assertFalse(epochs.isCommitted(epoch));
        assertFalse(epochs.isPublished(out.output, epoch));
        assertEquals(List.of(epoch), epochs.pending());
        in.input.ranDry();
        assertEquals(1, in.woken);
        assertEquals(1, other.woken);
        in.input.ranDry(); // it was dry
        assertEquals(List.of(epoch), in.end());
        assertEquals(List.of(epoch), other.end());
        other.input.arrived();
        in.append();
        assertEquals(1, in.woken);
        other.input.ranDry();
        assertEquals(2, in.woken);
    }

    @Test
    void whoeverComesToAnOpenEpochKeepsItOpenToo() {
        In other = new In(domain);
        other.input.arrived();
        in.input.arrived();
        other.input.ranDry();
        assertEquals(List.of(), in.end());
        in.input.ranDry();
        assertEquals(1, in.end().size());
    }

    @Test
    void anEpochIsClosedWhenItsTimeIsOverThoughRowsAreAtHand() {
        in.input.arrived();
        assertEquals(1_000 * (1_000_000 + EPOCH_MICROS), workers.nextTimerNanos());
        clock.advance(EPOCH_MICROS - 1);
        runTimers();
        assertEquals(List.of(), in.end());
        clock.advance(1);
        runTimers();
        assertEquals(1, in.end().size());
        assertEquals(Long.MAX_VALUE, workers.nextTimerNanos());
        in.input.arrived(); // it is still at it, and counts once
        assertEquals(1_000 * (1_000_000 + 2 * EPOCH_MICROS), workers.nextTimerNanos());
        in.input.ranDry();
        assertEquals(1, in.end().size());
    }

    @Test
    void aTimerThatFindsAYoungerEpochWaitsForIt() {
        long first = in.append(); // closed at once; the timer stays
        clock.advance(60_000);
        in.input.arrived();
        clock.advance(40_000);
        runTimers();
        assertEquals(List.of(first), in.end());
        assertEquals(1_000 * (1_000_000 + 160_000), workers.nextTimerNanos());
        clock.advance(60_000);
        runTimers();
        assertEquals(1, in.end().size());
    }

    @Test
    void aTimerThatFindsTooManyEpochsClosedComesBack() {
        List<Long> all = List.of(in.append(), in.append(), in.append());
        in.end();
        long open = in.append();
        clock.advance(EPOCH_MICROS);
        runTimers();
        assertEquals(List.of(), in.end());
        assertEquals(clock.nanoTime() + 100 * EPOCH_MICROS, workers.nextTimerNanos()); // a tenth of an epoch
        out.output.done(all.get(0));
        assertEquals(List.of(open), in.end());
    }

    @Test
    void outputsThatKeepUpDoNotWaitForOneThatIsBehind() {
        Out slow = new Out(domain);
        for (int i = 0; i < 3; i++) {
            long epoch = in.append();
            in.end();
            out.output.done(epoch);
        }
        long open = in.append();
        assertEquals(List.of(), in.end());
        clock.advance(EPOCH_MICROS);
        runTimers();
        assertEquals(List.of(open), in.end());
        out.output.done(open);
        assertEquals(4, out.published.size());
        slow.output.done(open);
        assertEquals(out.published, slow.published);
    }

    @Test
    void whenAllAreBehindEpochsWaitHoweverOldTheyAre() {
        Out other = new Out(domain);
        for (int i = 0; i < 3; i++) {
            in.append();
        }
        in.end();
        long open = in.append();
        clock.advance(10 * EPOCH_MICROS);
        runTimers();
        assertEquals(List.of(), in.end());
        other.output.leave(); // which does not make it one that keeps up
        clock.advance(EPOCH_MICROS);
        runTimers();
        assertEquals(List.of(), in.end());
        out.output.done(open - 1);
        assertEquals(List.of(open), in.end());
    }

    @Test
    void nothingComesIntoADomainThatIsHeldAndItIsQuietOnceAllIsOut() {
        long epoch = in.append();
        in.input.arrived();
        in.woken = 0;
        assertFalse(in.input.isHeld());
        epochs.hold(List.of(domain));
        assertTrue(in.input.isHeld() && out.output.isHeld());
        assertEquals(1, in.woken);
        assertEquals(1, out.woken);
        List<String> ran = new ArrayList<>();
        assertTrue(epochs.append(in.input, Journal.Entry.NONE, () -> ran.add("rows"))
                .isEmpty());
        assertEquals(List.of(), ran);
        List<Long> ended = in.end();
        assertEquals(2, ended.size());
        assertEquals(epoch, ended.get(0));
        assertFalse(epochs.isQuiet(List.of(domain)));
        out.output.done(ended.get(1));
        assertTrue(epochs.isQuiet(List.of(domain)));
        in.woken = 0;
        epochs.release(List.of(domain));
        assertFalse(in.input.isHeld() || out.output.isHeld());
        assertEquals(1, in.woken);
        in.input.ranDry();
        assertTrue(in.append() > ended.get(1));
        assertFalse(epochs.isQuiet(List.of(domain)));
    }

    @Test
    void whatArrivesInADomainThatIsHeldIsClosedThoughMoreIsAtHand() {
        in.input.arrived();
        epochs.hold(List.of(domain));
        List<Long> ended = in.end();
        out.output.done(ended.get(0));
        assertEquals(OptionalLong.of(1_000_000_000), out.since);
        in.input.arrived(); // busy all the while
        assertFalse(epochs.isQuiet(List.of(domain)));
        epochs.touch(out.output);
        assertEquals(1, in.end().size());
    }

    /** As by an idle source's timer, while a query comes to one input after the other. */
    @Test
    void whatIsTouchedInADomainAtRestEndsNoEpochBeforeItIsReleased() {
        EpochDomain second = epochs.newDomain();
        In other = new In(second);
        Out otherOut = new Out(second);
        List<EpochDomain> both = List.of(domain, second);
        epochs.hold(both);
        out.output.done(in.end().get(0));
        assertFalse(epochs.comeToRest(both, () -> true));
        epochs.touch(otherOut.output); // not at rest yet: it comes to it the sooner
        List<Long> ended = other.end();
        assertEquals(2, ended.size());
        otherOut.output.done(ended.get(1));
        assertFalse(epochs.comeToRest(both, () -> false));
        assertTrue(epochs.comeToRest(both, () -> true));
        epochs.touch(otherOut.output);
        EpochDomain merged = epochs.merge(both);
        epochs.touch(out.output);
        assertEquals(List.of(), in.end());
        assertEquals(List.of(), other.end());
        assertTrue(epochs.isQuiet(List.of(merged)));
        epochs.release(List.of(merged));
        assertEquals(1, in.end().size());
        assertEquals(1, other.end().size());
        assertEquals(1, epochs.pending().size());
        long last = epochs.pending().get(0);
        out.output.done(last);
        otherOut.output.done(last);
        assertTrue(in.append() > last);
        assertEquals(1, in.end().size());
    }

    @Test
    void anEmptyEpochThatIsClosedHasNoFirstRow() {
        epochs.hold(List.of(domain));
        out.output.done(in.end().get(0));
        assertEquals(1, out.published.size());
        assertEquals(OptionalLong.empty(), out.since);
    }

    @Test
    void mergedDomainsAreOne() {
        EpochDomain second = epochs.newDomain();
        In other = new In(second);
        Out otherOut = new Out(second);
        assertTrue(epochs.append(List.of(in.input, other.input), Journal.Entry.NONE, () -> {})
                .isEmpty());
        assertNotEquals(in.append(), other.append());
        other.input.arrived(); // and stays busy
        epochs.hold(List.of(domain, second));
        out.output.done(in.end().get(1));
        otherOut.output.done(other.end().get(1));
        assertTrue(epochs.isQuiet(List.of(domain, second)));
        EpochDomain merged = epochs.merge(List.of(domain, second));
        assertSame(merged, epochs.domainOf(in.input));
        assertSame(merged, epochs.domainOf(other.input));
        assertSame(merged, epochs.domainOf(out.output));
        assertSame(merged, epochs.domainOf(otherOut.output));
        assertTrue(in.input.isHeld() && otherOut.output.isHeld());
        epochs.release(List.of(merged));
        int[] ran = {0};
        long epoch = epochs.append(List.of(in.input, other.input), Journal.Entry.NONE, () -> ran[0]++)
                .orElseThrow()
                .epoch();
        assertEquals(1, ran[0]);
        assertEquals(List.of(), in.end());
        other.input.ranDry();
        assertEquals(List.of(epoch), in.end());
        assertEquals(List.of(epoch), other.end());
        out.output.done(epoch);
        assertFalse(epochs.isCommitted(epoch));
        otherOut.output.done(epoch);
        assertTrue(epochs.isCommitted(epoch));
        assertTrue(epochs.touch(new Out(epochs.newDomain()).output) > epoch); // numbers only grow
        assertTrue(epoch > out.published.get(0) && epoch > otherOut.published.get(0));
    }

    @Test
    void nobodyWaitsForAnInputThatLeft() {
        In other = new In(domain);
        long epoch = in.append();
        in.end();
        out.output.done(epoch);
        assertFalse(epochs.isCommitted(epoch));
        other.input.leave();
        assertTrue(epochs.isCommitted(epoch));
        other.input.arrived();
        other.input.touch();
        assertEquals(List.of(), epochs.pending());
        long next = in.append();
        assertEquals(List.of(next), in.end());
        out.output.done(next);
        assertTrue(epochs.isCommitted(next));
    }

    @Test
    void anInputThatLeavesWhileRowsAreAtHandKeepsNoEpochOpen() {
        In other = new In(domain);
        other.input.arrived();
        long epoch = in.append();
        assertEquals(List.of(), in.end());
        other.input.leave();
        assertEquals(List.of(epoch), in.end());
        assertEquals(List.of(in.append()), in.end()); // nobody else is busy
    }

    @Test
    void anOutputThatLeftPublishesWhatIsClosedAndNobodyWaitsForIt() {
        Out other = new Out(domain);
        long epoch = in.append();
        in.end();
        out.output.done(epoch);
        other.output.leave();
        assertEquals(List.of(epoch), other.published);
        assertTrue(epochs.isCommitted(epoch));
        other.output.leave(); // once more
        long next = in.append();
        in.end();
        assertTrue(epochs.isPublished(other.output, next));
        out.output.done(next);
        assertTrue(epochs.isCommitted(next));
        assertEquals(List.of(epoch), other.published);
    }

    @Test
    void anOutputThatIsNotFedPublishesAtOnce() {
        EpochDomain unfed = epochs.newDomain();
        Out alone = new Out(unfed);
        long epoch = epochs.touch(alone.output);
        assertEquals(List.of(epoch), alone.published);
        assertTrue(epochs.isCommitted(epoch));
        assertTrue(epochs.touch(alone.output) > epoch);
    }

    @Test
    void anInputThatIsTouchedHasAnEpochClosedWithoutRows() {
        in.input.touch();
        List<Long> ended = in.end();
        assertEquals(1, ended.size());
        out.output.done(ended.get(0));
        assertEquals(ended, out.published);
        long epoch = epochs.touch(out.output);
        assertEquals(List.of(epoch), in.end());
    }

    @Test
    void aNewOutputHasAnEpochAlone() {
        Out fresh = new Out(domain);
        long alone = epochs.beginAlone(fresh.output).orElseThrow();
        assertFalse(epochs.isPublished(fresh.output, alone));
        assertTrue(epochs.isPublished(out.output, alone));
        assertEquals(List.of(), in.end());
        assertEquals(List.of(alone), epochs.pending());
        long epoch = in.append();
        assertTrue(epoch > alone);
        in.end();
        out.output.done(epoch);
        assertEquals(List.of(epoch), out.published);
        fresh.output.done(epoch);
        assertEquals(List.of(alone, epoch), fresh.published);
        assertEquals(List.of(), epochs.pending());
        in.input.arrived();
        assertTrue(epochs.beginAlone(fresh.output).isEmpty()); // the open one ends soon
    }

    @Test
    void betweenEpochsNothingIsUnderWay() {
        int[] ran = {0};
        assertFalse(epochs.between(domain, epoch -> false, () -> ran[0]++));
        assertEquals(0, ran[0]);
        assertTrue(epochs.between(domain, epoch -> epoch == Epochs.NONE, () -> ran[0]++));
        assertEquals(1, ran[0]);
        assertEquals(List.of(), in.end()); // nothing had come
        in.input.arrived();
        List<Long> seen = new ArrayList<>();
        assertTrue(epochs.between(
                domain,
                epoch -> {
                    seen.add(epoch);
                    return true;
                },
                () -> ran[0]++));
        List<Long> ended = in.end();
        assertEquals(List.of(Epochs.NONE, ended.get(0)), seen); // what had come is closed before
        assertEquals(2, ran[0]);
        in.input.arrived();
        assertFalse(epochs.between(
                domain, epoch -> epoch == ended.get(0), () -> ran[0]++)); // closed, and not passed on yet
        assertEquals(2, ran[0]);
        assertTrue(epochs.hasPassedOn(domain, epoch -> epoch > ended.get(0)));
        assertFalse(epochs.hasPassedOn(domain, epoch -> epoch == ended.get(0)));
    }

    @Test
    void betweenEpochsOfADomainThatIsHeldNothingIsClosed() {
        epochs.hold(List.of(domain));
        List<Long> ended = in.end();
        in.input.arrived();
        int[] ran = {0};
        assertTrue(epochs.between(domain, epoch -> epoch == ended.get(0), () -> ran[0]++));
        assertEquals(1, ran[0]);
        assertEquals(List.of(), in.end());
    }

    @Test
    void aCutKeepsOutputsAtTheNewestEpochThatAnyShows() {
        Out behind = new Out(domain);
        List<Long> all = List.of(in.append(), in.append(), in.append());
        in.end();
        out.output.done(all.get(1));
        behind.output.done(all.get(0));
        Cut cut = epochs.cut(List.of(out.output, behind.output));
        assertFalse(cut.isReached());
        out.output.done(all.get(2));
        assertEquals(2, out.published.size());
        behind.output.done(all.get(2));
        assertEquals(all.subList(0, 2), behind.published);
        assertTrue(cut.isReached());
        Cut later = epochs.cut(List.of(behind.output));
        cut.close();
        assertEquals(all, out.published);
        assertEquals(2, behind.published.size());
        later.close();
        assertEquals(all, behind.published);
        assertEquals(List.of(), epochs.pending());
        try (Cut none = epochs.cut(List.of(out.output, behind.output))) {
            assertTrue(none.isReached());
        }
    }

    @Test
    void anEpochHasTheTimeAtWhichItWasClosed() {
        long epoch = in.append();
        clock.advance(500);
        assertEquals(1_000_000, epochs.micros(epoch));
        assertEquals(1_000_500, epochs.micros(epoch + 1_000)); // which nobody else has
        in.end();
        out.output.done(epoch);
        assertEquals(1_000_500, epochs.micros(epoch));
    }

    @Test
    void anEpochIsPublishedByThoseThatAreNoPartOfIt() {
        in.input.arrived();
        long open = epochs.pending().get(0);
        assertFalse(epochs.isPublished(out.output, open));
        assertFalse(epochs.isCommitted(open));
        assertFalse(epochs.isPublished(out.output, open + 1), "before the one that is open");
        assertTrue(epochs.isCommitted(open + 1));
        out.output.leave();
        assertTrue(epochs.isPublished(out.output, open));
        assertTrue(epochs.isPublished(out.output, open + 1));
        Out unfed = new Out(epochs.newDomain());
        assertTrue(epochs.isCommitted(epochs.touch(unfed.output)));
    }

    @Test
    void actionsReturnWhatTheySay() {
        assertEquals("a", epochs.atOneInstant(() -> "a"));
        assertEquals("b", epochs.atomically(() -> "b"));
        int[] ran = {0};
        out.output.exclusively(() -> ran[0]++);
        assertEquals(1, ran[0]);
    }

    /** As a query does that feeds itself: it is called back with the lock held. */
    @Test
    void whatIsDoneInAWakeIsPublishedOnceTheLockIsFree() {
        EpochDomain own = epochs.newDomain();
        Out output = new Out(own);
        EpochInput[] input = new EpochInput[1];
        input[0] = epochs.addInput(own, () -> {
            int before = output.published.size();
            output.output.done(input[0].takeClosing().orElseThrow());
            assertEquals(before, output.published.size());
        });
        long epoch = epochs.append(input[0], Journal.Entry.NONE, () -> {})
                .orElseThrow()
                .epoch();
        assertEquals(List.of(epoch), output.published);
        assertTrue(epochs.isCommitted(epoch));
        input[0].arrived();
        assertTrue(epochs.between(own, last -> true, () -> assertEquals(1, output.published.size())));
        assertEquals(2, output.published.size());
        input[0].ranDry();
        input[0].arrived();
        input[0].ranDry();
        assertEquals(3, output.published.size());
    }

    /** What was appended and is not on disk yet. */
    private static final class HeldJournal implements Journal {
        private final List<Runnable> waiting = new ArrayList<>();
        private long appended;
        private long durable;

        @Override
        public Entry prepare(List<Change> changes) {
            return new Entry() {
                @Override
                public long append() {
                    return ++appended;
                }

                @Override
                public void close() {}
            };
        }

        @Override
        public void whenDurable(long number, Runnable then) {
            if (number <= durable) {
                then.run();
            } else {
                waiting.add(() -> whenDurable(number, then));
            }
        }

        void force() {
            durable = appended;
            List<Runnable> all = List.copyOf(waiting);
            waiting.clear();
            all.forEach(Runnable::run);
        }
    }

    @Test
    void anEpochIsShownWhenWhatWasAcceptedInItIsOnDisk() {
        HeldJournal journal = new HeldJournal();
        Epochs journaled = new Epochs(workers, clock, 1_000 * EPOCH_MICROS, new Signal(), journal);
        EpochDomain of = journaled.newDomain();
        EpochInput input = journaled.addInput(of, () -> {});
        List<Long> published = new ArrayList<>();
        EpochOutput output = journaled.addOutput(
                of,
                new EpochOutput.Publisher() {
                    @Override
                    public void stamp(long epoch, long version) {}

                    @Override
                    public void publish(long epoch, OptionalLong sinceNanos) {
                        published.add(epoch);
                    }
                },
                () -> {});
        Accepted first = append(journaled, input, journal);
        Accepted second = append(journaled, input, journal);
        assertEquals(List.of(1L, 2L), List.of(first.entry(), second.entry()));
        while (input.takeClosing().isPresent()) {
            // each is ended
        }
        output.done(second.epoch());
        runTimers();
        assertEquals(List.of(), published);
        assertFalse(journaled.isPublished(output, first.epoch()));
        assertFalse(journaled.isCommitted(second.epoch()));
        journal.force();
        runTimers();
        assertEquals(List.of(first.epoch(), second.epoch()), published);
        assertTrue(journaled.isCommitted(second.epoch()));

        long unwritten = journaled
                .append(input, Journal.Entry.NONE, () -> {})
                .orElseThrow()
                .epoch();
        input.takeClosing();
        output.done(unwritten);
        assertEquals(unwritten, published.get(2), "rows that nobody writes down wait for no disk");

        Accepted late = append(journaled, input, journal);
        journal.force(); // before the task is done with it
        input.takeClosing();
        runTimers();
        assertEquals(3, published.size());
        output.done(late.epoch());
        assertEquals(late.epoch(), published.get(3));
    }

    @Test
    void whoWritesTheJournalShowsWhatIsReadyWhenItHasWritten() {
        HeldJournal journal = new HeldJournal();
        Epochs journaled = new Epochs(workers, clock, 1_000 * EPOCH_MICROS, new Signal(), journal);
        EpochDomain of = journaled.newDomain();
        EpochInput input = journaled.addInput(of, () -> {});
        List<Long> published = new ArrayList<>();
        EpochOutput output = journaled.addOutput(
                of,
                new EpochOutput.Publisher() {
                    @Override
                    public void stamp(long epoch, long version) {}

                    @Override
                    public void publish(long epoch, OptionalLong sinceNanos) {
                        published.add(epoch);
                    }
                },
                () -> {});
        Accepted row = append(journaled, input, journal);
        input.takeClosing();
        output.done(row.epoch());
        boolean written = journaled.showing(() -> {
            journal.force();
            assertEquals(List.of(), published, "the journal's writer is not held up");
            return true;
        });
        assertTrue(written);
        assertEquals(List.of(row.epoch()), published, "no timer has run");

        Accepted next = append(journaled, input, journal);
        input.takeClosing();
        output.done(next.epoch());
        journal.force(); // by another, which is left alone
        assertEquals(List.of(row.epoch()), published);
        runTimers();
        assertEquals(List.of(row.epoch(), next.epoch()), published);
    }

    private static Accepted append(Epochs epochs, EpochInput input, Journal journal) {
        return epochs.append(input, journal.prepare(List.of()), () -> {}).orElseThrow();
    }
}
