package dev.millrace.engine.checkpoint;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import java.util.ArrayList;
import java.util.List;

/** Whether a checkpoint has the state that it says operators have, step by step. Reads how sections begin, and no state. */
public final class StateVerification {
    private StateVerification() {}

    /**
     * What is not as the checkpoint says: sections that are missing, or of another step.
     *
     * @throws MillraceException 58030 if it cannot be read
     */
    public static List<String> gaps(CheckpointReader reader) {
        List<String> gaps = new ArrayList<>();
        try {
            SavedSections saved = new SavedSections(reader);
            for (QueryMeta query : CheckpointMeta.read(saved).queries().values()) {
                for (StateSteps state : query.states()) {
                    addGaps(saved, query.name(), state, gaps);
                }
            }
        } catch (MillraceException e) {
            addIfOfFiles(e, gaps);
        }
        return gaps;
    }

    private static void addGaps(SavedSections saved, String query, StateSteps state, List<String> gaps) {
        int number = 0;
        for (StateSteps.Step step : state.steps()) {
            for (int left = step.sections(); left > 0; left--, number++) {
                try {
                    saved.requireStep(StateSteps.section(query, state.node(), state.instance(), number), step.number());
                } catch (MillraceException e) {
                    addIfOfFiles(e, gaps);
                }
            }
        }
    }

    private static void addIfOfFiles(MillraceException e, List<String> gaps) {
        if (e.sqlState() != SqlState.DATA_CORRUPTED) {
            throw e;
        }
        gaps.add(e.getMessage());
    }
}
