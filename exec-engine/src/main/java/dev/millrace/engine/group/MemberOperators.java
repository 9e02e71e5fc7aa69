package dev.millrace.engine.group;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.error.MillraceException;
import dev.millrace.operator.KeyGroups;
import dev.millrace.operator.Operator;
import dev.millrace.operator.OperatorContext;
import dev.millrace.operator.OperatorMetrics;
import dev.millrace.operator.Output;
import dev.millrace.operator.StateReader;
import dev.millrace.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.apache.arrow.memory.BufferAllocator;

/**
 * What one member does with the rows that are left by its filter: the operators that its query by itself has above that, one behind the other, told of rows, time and
 * epochs in the order in which a task tells them. So their state is what that query's would be, byte by byte. The operator's, as {@link Member} says.
 */
final class MemberOperators implements AutoCloseable {
    private final Member member;
    private final OperatorContext host;
    private final Consumer<Batch> answers;
    private final PickedRows picked = new PickedRows();
    private final List<Level> levels = new ArrayList<>();

    /**
     * Opens them.
     *
     * @param host lends memory and the time; closes neither
     * @param answers takes what the last of them gives
     */
    MemberOperators(Member member, List<MemberStep> steps, OperatorContext host, Consumer<Batch> answers) {
        this.member = member;
        this.host = host;
        this.answers = answers;
        try {
            for (MemberStep step : steps) {
                Level level = new Level(step, levels.size());
                levels.add(level);
                level.operator.open(level);
            }
        } catch (RuntimeException | Error e) {
            close();
            throw e;
        }
    }

    /** Which rows of a batch are the member's. */
    PickedRows picked() {
        return picked;
    }

    /** Rows that are left by its filter; takes the batch over. */
    void process(Batch rows) {
        levels.get(0).operator.process(0, rows, levels.get(0));
    }

    /** Time has come to here. */
    void advance(long watermarkMicros) {
        advance(0, watermarkMicros);
    }

    private void advance(int from, long watermarkMicros) {
        long micros = watermarkMicros;
        for (int i = from; i < levels.size() && micros > levels.get(i).received; i++) {
            Level level = levels.get(i);
            while (!level.operator.onWatermark(micros, level)) {
                // its output is never full
            }
            level.received = micros;
            micros = level.release();
        }
    }

    /** The epoch is complete. */
    void endEpoch(long epoch) {
        for (int i = 0; i < levels.size(); i++) {
            Level level = levels.get(i);
            while (!level.operator.onEpochEnd(epoch, level)) {
                // likewise
            }
            advance(i + 1, level.release());
        }
    }

    /** Whether they are as they were when they were opened, but for the time. Behind an epoch's end. */
    boolean isEmpty() {
        for (int i = 0; i < levels.size(); i++) {
            if (levels.get(i).metrics.stateEntries() > 0) {
                return false;
            }
        }
        return true;
    }

    /** What each keeps, the lowest first. Between epochs. */
    List<StateParts> states() {
        return levels.stream().map(level -> StateParts.of(level.operator)).toList();
    }

    /** Has each go on with what it kept; right after they were opened. */
    void restore(List<? extends StateReader> states) {
        for (int i = 0; i < levels.size(); i++) {
            levels.get(i).operator.restore(states.get(i));
        }
    }

    @Override
    public void close() {
        Closing.all(levels.stream().map(level -> level.operator).toList());
        levels.clear();
    }

    /** One of them, and what it is lent. */
    private final class Level implements OperatorContext, Output {
        private final MemberStep step;
        private final int index;
        private final Operator operator;
        private final OperatorMetrics metrics = new OperatorMetrics();
        private long received = Operator.NO_WATERMARK;

        Level(MemberStep step, int index) {
            this.step = step;
            this.index = index;
            this.operator = step.make().get();
        }

        /** The time that those behind it are at now. */
        long release() {
            return received == Operator.NO_WATERMARK ? received : operator.passedWatermark(received);
        }

        @Override
        public void emit(Batch batch) {
            if (batch.rowCount() == 0) {
                batch.close();
            } else if (index + 1 < levels.size()) {
                Level next = levels.get(index + 1);
                next.operator.process(0, batch, next);
            } else {
                answers.accept(batch);
            }
        }

        @Override
        public boolean isFull() {
            return false;
        }

        @Override
        public boolean keepsFailedRows() {
            return step.notesFailures();
        }

        @Override
        public boolean failsForGood() {
            return step.notesFailures() && !step.takesFailuresBack();
        }

        @Override
        public void failedRow(MillraceException failure, long weight) {
            if (!step.notesFailures()) {
                throw failure;
            }
            member.failed(failure, weight, step.takesFailuresBack());
        }

        @Override
        public BufferAllocator allocator() {
            return host.allocator();
        }

        @Override
        public Clock clock() {
            return host.clock();
        }

        @Override
        public long epochMicros(long epoch) {
            return host.epochMicros(epoch);
        }

        @Override
        public KeyGroups keyGroups() {
            return KeyGroups.ALL;
        }

        @Override
        public int batchRows() {
            return host.batchRows();
        }

        @Override
        public OperatorMetrics metrics() {
            return metrics;
        }

        @Override
        public void lateRows(Batch batch, int[] rows, int count, long watermarkMicros) {
            host.lateRows(batch, rows, count, watermarkMicros);
        }
    }
}
