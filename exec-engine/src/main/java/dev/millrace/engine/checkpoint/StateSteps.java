package dev.millrace.engine.checkpoint;

import java.util.List;

/**
 * Where a checkpoint has the state of an instance of an operator: sections by their numbers from 0 on, of one step after the other. The first
 * step has all as it was then, each other what had changed.
 *
 * @param node of the plan's graph
 */
public record StateSteps(int node, int instance, List<Step> steps) {
    /**
     * @param number that its sections begin with: of the checkpoint that wrote them
     * @param sections how many
     */
    public record Step(long number, int sections) {}

    /** The name of a section. */
    public static String section(String query, int node, int instance, int number) {
        return "state " + node + "/" + instance + (number == 0 ? "" : "+" + number) + " " + query;
    }

    public StateSteps {
        steps = List.copyOf(steps);
    }
}
