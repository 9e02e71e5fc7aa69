package dev.millrace.server.regression;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;

/** What psql printed while it repeated a script: the lines behind those of a step, before those of the next, are what it was answered. */
final class Transcript {
    private Transcript() {}

    /** For each step the lines that it was answered; empty for a step that is not in the output, as psql had ended. */
    static List<Optional<List<String>>> answers(List<PsqlScript.Step> steps, List<String> output) {
        int[] begins = new int[steps.size()]; // of what is repeated; -1 if it is not
        int from = 0;
        for (int i = 0; i < begins.length; i++) {
            List<String> echoed = steps.get(i).echoed();
            begins[i] = find(output, echoed, from);
            from = begins[i] < 0 ? from : begins[i] + echoed.size();
        }
        List<Optional<List<String>>> answers = new ArrayList<>();
        int end = output.size();
        for (int i = begins.length - 1; i >= 0; i--) {
            if (begins[i] < 0) {
                answers.add(Optional.empty());
            } else {
                answers.add(Optional.of(
                        output.subList(begins[i] + steps.get(i).echoed().size(), end)));
                end = begins[i];
            }
        }
        Collections.reverse(answers);
        return answers;
    }

    private static int find(List<String> output, List<String> lines, int from) {
        for (int at = from; at + lines.size() <= output.size(); at++) {
            if (output.subList(at, at + lines.size()).equals(lines)) {
                return at;
            }
        }
        return -1;
    }
}
