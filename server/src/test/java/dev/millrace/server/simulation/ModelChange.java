package dev.millrace.server.simulation;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** What takes effect as a whole: which rows go and come, by the numbers of their relations. */
record ModelChange(Map<Integer, Rows> of) {
    /** Those of one relation; what goes is there. */
    record Rows(List<ModelRow> gone, List<ModelRow> come) {}

    static final ModelChange NOTHING = new ModelChange(Map.of());

    static ModelChange of(int relation, List<ModelRow> gone, List<ModelRow> come) {
        return new ModelChange(Map.of(relation, new Rows(gone, come)));
    }

    /** This and then the other. */
    ModelChange then(ModelChange next) {
        Map<Integer, Rows> both = new TreeMap<>(of);
        next.of.forEach((relation, rows) -> both.merge(relation, rows, (first, second) -> {
            List<ModelRow> gone = new ArrayList<>(first.gone);
            List<ModelRow> come = new ArrayList<>(first.come);
            second.gone.forEach(row -> {
                if (!come.remove(row)) {
                    gone.add(row);
                }
            });
            come.addAll(second.come);
            return new Rows(gone, come);
        }));
        return new ModelChange(both);
    }

    /** The rows of all relations after this, where these were before. */
    Map<Integer, List<ModelRow>> applied(Map<Integer, List<ModelRow>> before) {
        Map<Integer, List<ModelRow>> after = new HashMap<>(before);
        of.forEach((relation, rows) -> {
            List<ModelRow> changed = new ArrayList<>(before.getOrDefault(relation, List.of()));
            for (ModelRow row : rows.gone) {
                if (!changed.remove(row)) {
                    throw new AssertionError("relation " + relation + " has no row " + row.text());
                }
            }
            changed.addAll(rows.come);
            after.put(relation, List.copyOf(changed));
        });
        return after;
    }
}
