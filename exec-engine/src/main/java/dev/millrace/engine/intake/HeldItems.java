package dev.millrace.engine.intake;

import dev.millrace.engine.channel.Item;
import dev.millrace.engine.channel.Item.EpochEnd;
import dev.millrace.engine.channel.Item.Rows;
import dev.millrace.engine.channel.WaitTime;
import dev.millrace.operator.Operator;
import dev.millrace.time.Clock;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * What has come to an input and waits there, for the query's next intake or because the query is paused. Of its task's worker, but for what statistics read.
 *
 * <pre>
 *   rows, watermark -> held, unless the epoch that is open here is an intake and nothing waits
 *   epoch's end     -> of an intake: behind what waits, which goes on now; of no intake: past it
 *   end             -> behind what waits, which goes on with the next epoch that is an intake here
 * </pre>
 */
public final class HeldItems implements AutoCloseable {
    private final ArrayDeque<Item> items = new ArrayDeque<>();
    private final WaitTime time = new WaitTime();
    private final Clock clock;
    private final QueryIntakes.Seat seat;
    private boolean goOn; // what is here, before more comes
    private boolean ended; // nothing comes behind what is here
    private volatile long bytes; // written by the task's worker, read by statistics
    private volatile long rows; // the same

    public HeldItems(QueryIntakes intakes, Clock clock) {
        this.seat = intakes.newSeat();
        this.clock = clock;
    }

    public boolean isEmpty() {
        return items.isEmpty();
    }

    public int size() {
        return items.size();
    }

    public long bytes() {
        return bytes;
    }

    public long rows() {
        return rows;
    }

    /** Time for which rows waited here, each batch's own, in all; any thread. */
    public long waitNanos() {
        return time.nanos(clock.nanoTime());
    }

    /** What waits, in its order; stays here. */
    public List<Item> items() {
        return List.copyOf(items);
    }

    /** Takes over an item, which is behind all that wait. */
    public void hold(Item item) {
        items.add(item);
        if (item instanceof Rows batch) {
            time.came(clock.nanoTime());
            rows += batch.batch().rowCount();
            bytes += batch.batch().sizeInBytes();
            seat.holds(batch.batch().rowCount(), batch.batch().sizeInBytes());
        } else {
            seat.holds(0, 0);
        }
    }

    /** What waits goes on as soon as the task asks. */
    public void goOn() {
        goOn = true;
    }

    /** Whether what waits goes on. */
    public boolean goesOn() {
        return goOn && !items.isEmpty();
    }

    /** What is next of what waits, if that goes on; the caller's. */
    public Optional<Item> next() {
        if (ended && !goOn) {
            OptionalLong passed = seat.pass();
            if (passed.isPresent()) {
                return Optional.of(new EpochEnd(passed.getAsLong()));
            }
            goOn = true;
        }
        if (!goOn) {
            return Optional.empty();
        }
        Optional<Item> next = Optional.ofNullable(items.poll());
        goOn = !items.isEmpty();
        next.ifPresent(this::left);
        return next;
    }

    private void left(Item item) {
        if (item instanceof Rows batch) {
            time.went(clock.nanoTime());
            rows -= batch.batch().rowCount();
            bytes -= batch.batch().sizeInBytes();
            seat.lets(batch.batch().rowCount(), batch.batch().sizeInBytes());
        } else {
            seat.lets(0, 0);
        }
        if (item instanceof EpochEnd end) {
            seat.reached(end.epoch());
        }
    }

    /** Something came. Returns whether it waits here now; else it is still the caller's, to be given on at once. */
    public boolean keeps(Item item) {
        if (item instanceof EpochEnd end) {
            boolean isIntake = seat.reached(end.epoch());
            if (!isIntake || items.isEmpty()) {
                return false;
            }
            hold(item);
            goOn = true;
            return true;
        }
        if (item instanceof Item.Failure || items.isEmpty() && (item instanceof Item.End || seat.isOpen())) {
            return false;
        }
        if (item instanceof Item.Watermark watermark && watermark.micros() == Operator.END_OF_INPUT) {
            seat.ask();
        }
        ended |= item instanceof Item.End;
        hold(item);
        goOn = !ended && seat.isOpen();
        return true;
    }

    @Override
    public void close() {
        for (Item item = items.poll(); item != null; item = items.poll()) {
            left(item);
            if (item instanceof Rows batch) {
                batch.batch().close();
            }
        }
    }
}
