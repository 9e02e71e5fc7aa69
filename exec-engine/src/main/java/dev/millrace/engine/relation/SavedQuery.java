package dev.millrace.engine.relation;

import dev.millrace.connector.PreparedRows;
import dev.millrace.connector.SourcePosition;
import dev.millrace.engine.channel.Item;
import dev.millrace.engine.task.FailedRows;
import dev.millrace.engine.task.StageMark;
import dev.millrace.engine.view.VersionedView;
import dev.millrace.error.MillraceException;
import dev.millrace.operator.KeyGroups;
import dev.millrace.operator.StateReader;
import dev.millrace.type.Schema;
import java.util.List;
import java.util.Optional;
import org.apache.arrow.memory.BufferAllocator;

/**
 * What a standing query begins with that goes on with what an earlier run of the same plan kept, at the end of an epoch. Safe on
 * any thread.
 */
public interface SavedQuery {
    /** The last epoch whose effects are in. */
    long epoch();

    /** How many tasks worked side by side; one that goes on has as many where its state belongs to them. */
    int tasks();

    /** Whether it had come to its end: then there is no state, only the answer. */
    boolean finished();

    /** Whether it was paused: its state is as of then. */
    boolean paused();

    /**
     * What a scan of a relation had not read when its query was paused.
     *
     * @param memory of the rows, which are the caller's
     * @param mostBytes of them that there can be
     */
    List<Item> waiting(int node, Schema schema, BufferAllocator memory, long mostBytes);

    /** Why it had failed, if it had: then likewise. */
    Optional<MillraceException> failure();

    /**
     * What one of so many instances of an operator restores.
     *
     * @param node the number of its node in the plan's graph
     * @param schemaHash of that node
     * @param groups the instance's own
     */
    StateReader states(int node, long schemaHash, int instance, int instances, KeyGroups groups);

    /** How far event time had come there. */
    StageMark mark(int node, int instance, int instances);

    /** Where the readers of a scan were; empty if it had none, or it is not known. */
    List<SourcePosition> positions(int node);

    /** What its sink had prepared, if it goes by checkpoints. */
    Optional<PreparedRows> sink();

    /** Fills the answer, which nobody has yet. */
    void restoreAnswer(VersionedView view);

    /** The failures of rows that are in the answer. */
    void restoreFailures(FailedRows failures);

    /** The time of the newest epoch of the answer; microseconds since 1970, 0 if it is not known. */
    long micros();
}
