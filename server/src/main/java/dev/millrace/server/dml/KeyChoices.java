package dev.millrace.server.dml;

import dev.millrace.batch.Batch;
import dev.millrace.server.transaction.ChangedTable;
import dev.millrace.server.transaction.TableKeys;
import dev.millrace.sql.statement.Statement.OnConflict.DoNothing;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Which keys a change of a table touches, and which of its rows take effect. */
final class KeyChoices {
    private KeyChoices() {}

    static Set<String> keysOf(TableKeys keys, Batch rows) {
        Set<String> texts = new HashSet<>();
        for (int row = 0; row < rows.rowCount(); row++) {
            texts.add(keys.keyOf(rows, row));
        }
        return texts;
    }

    /**
     * The rows whose keys are free, by key.
     *
     * @param skips the target of DO NOTHING: which others are passed over
     * @throws dev.millrace.error.MillraceException 23505 for the first other, if not
     */
    static Map<String, Integer> newKeys(ChangedTable changed, Batch incoming, Optional<DoNothing> skips) {
        TableKeys keys = changed.keys();
        Map<String, Integer> chosen = new LinkedHashMap<>();
        boolean skipsKey = skips.filter(nothing -> nothing.unique().isEmpty()).isPresent();
        Set<String> values = new HashSet<>();
        for (int row = 0; row < incoming.rowCount(); row++) {
            String key = keys.keyOf(incoming, row);
            boolean taken = changed.contains(key) || chosen.containsKey(key);
            if (taken && !skipsKey) {
                throw keys.duplicate(incoming, row);
            }
            if (!taken && isFree(changed, incoming, row, skips, values)) {
                chosen.put(key, row);
            }
        }
        return chosen;
    }

    /**
     * Whether a row is not passed over for what is kept unique beside the key; what DO NOTHING is not about is found when it
     * is written.
     *
     * @param values of the rows before it; gets the row's own where it is free
     */
    static boolean isFree(
            ChangedTable changed, Batch incoming, int row, Optional<DoNothing> skips, Set<String> values) {
        boolean counts = skips.filter(
                        nothing -> !nothing.target() || nothing.unique().isPresent())
                .isPresent();
        if (!counts || changed.keys().uniques().isEmpty()) {
            return true;
        }
        List<String> texts = changed.keys().uniques().texts(skips.get().unique(), incoming, row);
        if (texts.stream().anyMatch(text -> values.contains(text) || changed.containsUnique(text))) {
            return false;
        }
        values.addAll(texts);
        return true;
    }

    /** Takes the rows that are about to change from others. */
    static void claim(ChangedTable changed, Batch... rows) {
        TableKeys keys = changed.keys();
        if (!keys.hasKey()) {
            changed.claimAll();
            return;
        }
        Set<String> texts = new HashSet<>();
        for (Batch batch : rows) {
            texts.addAll(keysOf(keys, batch));
        }
        changed.claim(texts);
    }

    /** The keys of the new rows, none of them taken by a row that stays or by another new row. */
    static Map<String, Integer> replaceKeys(ChangedTable changed, Batch outgoing, Batch incoming) {
        TableKeys keys = changed.keys();
        Map<String, Integer> arriving = new LinkedHashMap<>();
        if (!keys.hasKey()) {
            return arriving;
        }
        Set<String> leaving = new HashSet<>();
        for (int row = 0; row < outgoing.rowCount(); row++) {
            leaving.add(keys.keyOf(outgoing, row));
        }
        for (int row = 0; row < incoming.rowCount(); row++) {
            String key = keys.keyOf(incoming, row);
            boolean stays = changed.contains(key) && !leaving.contains(key);
            if (stays || arriving.put(key, row) != null) {
                throw keys.duplicate(incoming, row);
            }
        }
        return arriving;
    }
}
