package dev.millrace.engine.intake;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.util.ArrayDeque;
import java.util.Iterator;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * Which epochs are intakes of a query. Whichever of its inputs is first at the end of an epoch has it decided, and the others follow, so that all of them let
 * through what came before the end of the same epoch: an answer is of one moment, however its inputs are apart.
 *
 * <pre>
 *   an epoch is an intake when it was asked for, or a checkpoint or whoever changes queries needs all rows of it;
 *                 or something waits, and the schedule's time is over, or its rows are there, or more waits than may
 *   once that is sure before its end, as the last intake is long ago, rows of it do not wait at all
 * </pre>
 *
 * <p>Safe on any thread. While the schedule is {@link Schedule#DATA} nothing is decided and no lock is taken. It changes while the query's epochs are at rest.
 */
public final class QueryIntakes {
    /** What a query says. Called with the lock held: quick, and without another that is held when this is called. */
    public interface Host {
        long nanoTime();

        /** Whether all rows before the end of an epoch are needed. */
        boolean isNeeded(long epoch);

        /** Has {@link QueryIntakes#timeIsUp} called at a time of the clock. */
        void wakeAt(long nanos);
    }

    /** What is known of an epoch before it is published. */
    private record Decision(long epoch, boolean isIntake) {}

    private static final long NEVER = Long.MIN_VALUE;

    private final Host host;
    private final long mostBytes;
    private volatile Schedule schedule; // written at rest, read by all

    @GuardedBy("this") private final ArrayDeque<Decision> decisions = new ArrayDeque<>(); // by epoch

    @GuardedBy("this") private boolean asked = true; // for the next that is decided: the first is what was there before

    @GuardedBy("this") private long askedThrough = NEVER; // and for each up to this

    @GuardedBy("this") private int asking; // how many do not know yet up to which

    @GuardedBy("this") private long lastNanos; // when one was decided at which something waited or came

    @GuardedBy("this") private boolean hadOne;

    @GuardedBy("this") private boolean timerSet;

    @GuardedBy("this") private long items; // that wait

    @GuardedBy("this") private long rows;

    @GuardedBy("this") private long bytes;

    /** @param mostBytes that may wait at all inputs together, before an intake comes early */
    public QueryIntakes(Schedule schedule, long mostBytes, Host host) {
        this.schedule = schedule;
        this.mostBytes = mostBytes;
        this.host = host;
    }

    /** Of what has no schedule. */
    public static QueryIntakes always() {
        return new QueryIntakes(Schedule.DATA, Long.MAX_VALUE, new Host() {
            @Override
            public long nanoTime() {
                return 0;
            }

            @Override
            public boolean isNeeded(long epoch) {
                return true;
            }

            @Override
            public void wakeAt(long nanos) {}
        });
    }

    public Schedule schedule() {
        return schedule;
    }

    /** Takes effect at once. While the query's epochs are at rest, so that no input is further than another; the next epoch is an intake. */
    public synchronized void change(Schedule newSchedule) {
        decisions.clear();
        asked = true;
        schedule = newSchedule;
    }

    /** Asks for the next intake to come as soon as it can. Who needs it to come has an epoch end. */
    public synchronized void ask() {
        asked = true;
    }

    /**
     * Each epoch is an intake from now on: one is to end soon, and may before its number is known. Followed by {@link #endAsking}, which says that.
     */
    public synchronized void beginAsking() {
        asking++;
    }

    /** Up to this epoch each is an intake that is not decided yet, and no further on behalf of who began to ask. */
    public synchronized void endAsking(long epoch) {
        asking--;
        askedThrough = Math.max(askedThrough, epoch);
    }

    /** The time has come for which {@link Host#wakeAt} was called. Returns whether an epoch is to end soon. */
    public synchronized boolean timeIsUp() {
        timerSet = false;
        if (items == 0 || schedule.isData()) {
            return false;
        }
        asked |= isDue();
        setTimer();
        return asked;
    }

    /** Whether an epoch that is not published is an intake, at or after its end. */
    public boolean isIntake(long epoch) {
        if (schedule.isData()) {
            return true;
        }
        synchronized (this) {
            Decision known = find(epoch);
            return known == null || known.isIntake; // of before the schedule
        }
    }

    @GuardedBy("this") private @Nullable Decision find(long epoch) {
        for (Iterator<Decision> newest = decisions.descendingIterator(); newest.hasNext(); ) {
            Decision each = newest.next();
            if (each.epoch <= epoch) {
                return each.epoch == epoch ? each : null;
            }
        }
        return null;
    }

    /** An epoch is published: all inputs are past it. */
    public void published(long epoch) {
        if (!schedule.isData()) {
            synchronized (this) {
                while (!decisions.isEmpty() && decisions.peek().epoch <= epoch) {
                    decisions.remove();
                }
            }
        }
    }

    /** Rows that wait now. */
    public synchronized long waitingRows() {
        return rows;
    }

    /** A place for one more input. */
    public Seat newSeat() {
        return new Seat();
    }

    @GuardedBy("this") private boolean isDue() {
        OptionalLong every = schedule.everyNanos();
        OptionalLong most = schedule.rows();
        return every.isPresent() && (!hadOne || host.nanoTime() - lastNanos >= every.getAsLong())
                || most.isPresent() && rows >= most.getAsLong()
                || bytes >= mostBytes;
    }

    @GuardedBy("this") private boolean decide(long epoch) {
        boolean wanted = asked || asking > 0 || epoch <= askedThrough || items > 0 && isDue();
        boolean isIntake = wanted || host.isNeeded(epoch);
        if (isIntake && (wanted || items > 0)) {
            lastNanos = host.nanoTime();
            hadOne = true;
            asked = false;
        }
        decisions.add(new Decision(epoch, isIntake));
        return isIntake;
    }

    /** One deadline, while something waits. */
    @GuardedBy("this") private void setTimer() {
        OptionalLong every = schedule.everyNanos();
        if (!timerSet && !asked && every.isPresent()) {
            timerSet = true;
            host.wakeAt(lastNanos + every.getAsLong());
        }
    }

    /** Where one input is. Of its task's worker. */
    public final class Seat {
        @GuardedBy("QueryIntakes.this") private long seen = NEVER; // the last end that came here

        private Seat() {}

        /** Whether what comes here goes through: the epoch that is open here is an intake. */
        public boolean isOpen() {
            if (schedule.isData()) {
                return true;
            }
            synchronized (QueryIntakes.this) {
                Decision next = next();
                if (next != null) {
                    return next.isIntake;
                }
                asked |= isDue();
                return asked;
            }
        }

        /** The end of an epoch has come here. Returns whether the epoch is an intake: what came before the end is to go through before it. */
        public boolean reached(long epoch) {
            if (schedule.isData()) {
                return true;
            }
            synchronized (QueryIntakes.this) {
                seen = epoch;
                Decision known = find(epoch);
                return known == null ? decide(epoch) : known.isIntake;
            }
        }

        /** The next epoch that others have seen the end of, if it is no intake: this input passes it, too, though nobody ends epochs here any more. */
        public OptionalLong pass() {
            synchronized (QueryIntakes.this) {
                Decision next = next();
                if (next == null || next.isIntake) {
                    asked = true; // what comes last here is in the epoch that is open
                    return OptionalLong.empty();
                }
                seen = next.epoch;
                return OptionalLong.of(seen);
            }
        }

        @GuardedBy("QueryIntakes.this") private @Nullable Decision next() {
            Decision next = null;
            for (Iterator<Decision> newest = decisions.descendingIterator(); newest.hasNext(); ) {
                Decision each = newest.next();
                if (each.epoch <= seen) {
                    break;
                }
                next = each;
            }
            return next;
        }

        /** Something waits here. */
        void holds(long moreRows, long moreBytes) {
            synchronized (QueryIntakes.this) {
                items++;
                rows += moreRows;
                bytes += moreBytes;
                if (!schedule.isData()) {
                    setTimer();
                }
            }
        }

        /** It waits no more. */
        void lets(long fewerRows, long fewerBytes) {
            synchronized (QueryIntakes.this) {
                items--;
                rows -= fewerRows;
                bytes -= fewerBytes;
            }
        }

        /** Nothing comes here after what waits: it is not to wait for more. */
        public void ask() {
            QueryIntakes.this.ask();
        }
    }
}
