package dev.millrace.engine.runtime;

import dev.millrace.connector.PreparedRows;
import dev.millrace.connector.SourcePosition;
import dev.millrace.engine.channel.Item;
import dev.millrace.engine.relation.SavedQuery;
import dev.millrace.engine.statistic.OperatorStatistics;
import dev.millrace.engine.task.FailedRows;
import dev.millrace.engine.task.StageMark;
import dev.millrace.engine.view.VersionedView;
import dev.millrace.error.MillraceException;
import dev.millrace.operator.KeyGroups;
import dev.millrace.operator.StateReader;
import dev.millrace.type.Schema;
import java.io.ByteArrayInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.arrow.memory.BufferAllocator;

/**
 * The state of a standing query at the end of an epoch, in memory: of the query alone, without positions in sources.
 *
 * @param epoch the last whose effects are in
 * @param tasks how many tasks work side by side; a query restored from it has as many where its state belongs to them
 * @param finished whether the query had come to its end: then there is no state, only the answer
 * @param operators per operator id (see {@link OperatorStatistics}) and instance, the bytes of each state and key group
 * @param view the rows of its materialized answer, as the view writes them; empty if it has none
 */
public record QuerySnapshot(long epoch, int tasks, boolean finished, Map<String, List<Part>> operators, List<Part> view)
        implements SavedQuery {
    public QuerySnapshot {
        operators = Map.copyOf(operators);
        view = List.copyOf(view);
    }

    /** One key group (or -1: the instance's own) of one named state. The bytes are not to be changed. */
    public record Part(String name, int keyGroup, byte[] bytes) {
        DataInputStream open() {
            return new DataInputStream(new ByteArrayInputStream(bytes));
        }
    }

    /** Its input is not in it. */
    @Override
    public boolean paused() {
        return false;
    }

    @Override
    public List<Item> waiting(int node, Schema schema, BufferAllocator memory, long mostBytes) {
        return List.of();
    }

    @Override
    public Optional<MillraceException> failure() {
        return Optional.empty();
    }

    @Override
    public StateReader states(int node, long schemaHash, int instance, int instances, KeyGroups groups) {
        return OperatorSnapshots.reader(this, node, instance, instances, groups);
    }

    @Override
    public StageMark mark(int node, int instance, int instances) {
        return StageMark.NONE;
    }

    @Override
    public List<SourcePosition> positions(int node) {
        return List.of();
    }

    @Override
    public Optional<PreparedRows> sink() {
        return Optional.empty();
    }

    @Override
    public void restoreAnswer(VersionedView rows) {
        try {
            for (Part part : view) {
                rows.restore(part.open());
            }
        } catch (IOException e) {
            throw new UncheckedIOException("memory is read", e);
        }
    }

    @Override
    public void restoreFailures(FailedRows failures) {}

    @Override
    public long micros() {
        return 0;
    }
}
