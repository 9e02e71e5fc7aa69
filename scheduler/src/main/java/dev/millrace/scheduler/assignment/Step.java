package dev.millrace.scheduler.assignment;

/** One change of where parts are. Steps are carried out in their order. */
public sealed interface Step {
    GroupPart part();

    /** The part has another home from now on. */
    record Move(GroupPart part, int from, int to) implements Step {}

    /** Its halves take its place, at its home. */
    record Split(GroupPart part) implements Step {}

    /** It takes the place of its halves, with this home. */
    record Merge(GroupPart part, int worker) implements Step {}
}
