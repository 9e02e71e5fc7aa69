package dev.millrace.engine.relation;

import dev.millrace.connector.PreparedRows;
import dev.millrace.connector.SourcePosition;
import dev.millrace.engine.channel.Item;
import dev.millrace.engine.task.FailedRows;
import dev.millrace.engine.task.StageMark;
import dev.millrace.engine.view.VersionedView;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.operator.KeyGroups;
import dev.millrace.operator.StateReader;
import dev.millrace.type.Schema;
import java.util.List;
import java.util.Optional;
import org.apache.arrow.memory.BufferAllocator;

/**
 * In the place of the state of a query whose rows are kept, and whose state is not there or does not fit any more: it has failed. If it began
 * anew by itself, its rows would be kept twice, or some would be missing, and nobody would know.
 */
public final class LostState implements SavedQuery {
    @Override
    public Optional<MillraceException> failure() {
        return Optional.of(
                MillraceException.user(
                                SqlState.OBJECT_NOT_IN_PREREQUISITE_STATE,
                                "the query has rows of before, and its state of then is not there or does not fit any more")
                        .withHint(
                                "its rows can be read; RESUME begins it anew, with those of before kept: rows that it reads again come twice"));
    }

    @Override
    public long epoch() {
        return 0;
    }

    @Override
    public long micros() {
        return 0;
    }

    @Override
    public int tasks() {
        return 1;
    }

    @Override
    public boolean finished() {
        return false;
    }

    @Override
    public boolean paused() {
        return false;
    }

    @Override
    public List<Item> waiting(int node, Schema schema, BufferAllocator memory, long mostBytes) {
        return List.of();
    }

    @Override
    public StateReader states(int node, long schemaHash, int instance, int instances, KeyGroups groups) {
        throw new IllegalStateException("there is no state");
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
    public void restoreAnswer(VersionedView view) {
        // there is none
    }

    @Override
    public void restoreFailures(FailedRows failures) {
        // none are known
    }
}
