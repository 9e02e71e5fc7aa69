package dev.millrace.server.simulation;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

/**
 * Makes a script that fails smaller: leaves out statements, then faults, by ever smaller blocks, and keeps what fails still (as delta
 * debugging does; Zeller and Hildebrandt, TSE 2002).
 */
final class SmallerHistory {
    private final Predicate<List<HistoryStep>> fails;
    private List<HistoryStep> smallest;

    private SmallerHistory(List<HistoryStep> script, Predicate<List<HistoryStep>> fails) {
        this.smallest = script;
        this.fails = fails;
    }

    /** @param fails runs a script */
    static List<HistoryStep> of(List<HistoryStep> script, Predicate<List<HistoryStep>> fails) {
        SmallerHistory smaller = new SmallerHistory(script, fails);
        int before;
        do {
            before = smaller.smallest.size();
            smaller.leaveOut(false);
            smaller.leaveOut(true);
        } while (smaller.smallest.size() < before);
        return smaller.smallest;
    }

    private void leaveOut(boolean faults) {
        for (int block = smallest.size(); block > 0; block /= 2) {
            for (int at = 0; at < smallest.size(); ) {
                List<HistoryStep> rest = without(at, block, faults);
                if (rest.size() < smallest.size() && fails.test(rest)) {
                    smallest = rest;
                } else {
                    at += block;
                }
            }
        }
    }

    private List<HistoryStep> without(int at, int block, boolean faults) {
        List<HistoryStep> rest = new ArrayList<>();
        for (int i = 0; i < smallest.size(); i++) {
            if (i < at || i >= at + block || smallest.get(i).kind().isFault() != faults) {
                rest.add(smallest.get(i));
            }
        }
        return rest;
    }
}
