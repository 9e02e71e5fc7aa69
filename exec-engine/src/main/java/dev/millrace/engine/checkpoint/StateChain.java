package dev.millrace.engine.checkpoint;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.millrace.operator.Freezing.Kept;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;

/**
 * Which sections have the state of one operator: of the last time that all of it was written, and of each time since that what had
 * changed was. A reader reads them in their order.
 *
 * <pre>
 *   step, whole: sections 0, 1 | step: section 2 | step: sections 3, 4, 5 | ..
 * </pre>
 *
 * What counts is known by the writer alone, which is asked before each checkpoint. By the thread that makes the checkpoint before the
 * cut and when it is complete, and by the operator's in between; which may be late, and at a checkpoint that has failed.
 */
public final class StateChain {
    private static final AtomicLong CONTENTS = new AtomicLong(); // no two sections of states have had the same

    /** Sections that were written together. */
    private record Step(long number, List<SectionContents> sections) {}

    @GuardedBy("this") private List<Step> counted = List.of(); // what a checkpoint had that was kept

    @GuardedBy("this") private List<Step> last = List.of(); // what the last one had, if it is complete

    @GuardedBy("this") private long number; // of the checkpoint that it was written for

    @GuardedBy("this") private boolean isComplete;

    @GuardedBy("this") private boolean isNamed; // the last: its sections can be asked for

    @GuardedBy("this") private Kept kept = Kept.NOTHING;

    @GuardedBy("this") private SectionContents begun = new SectionContents("", 0); // of the section under way

    /** What a reader is told of: steps and how many sections each has. Before that is complete there is nothing. */
    public synchronized List<StateSteps.Step> steps() {
        return isComplete
                ? last.stream()
                        .map(step -> new StateSteps.Step(
                                step.number(), step.sections().size()))
                        .toList()
                : List.of();
    }

    /** Whether this checkpoint has all of it. */
    public synchronized boolean isOf(long checkpoint) {
        return isComplete && number == checkpoint;
    }

    /** Checkpoints have nothing of it any more. While none is made. */
    public synchronized void forget() {
        counted = List.of();
        last = List.of();
        isComplete = false;
        kept = Kept.NOTHING;
    }

    // ---- before a checkpoint

    /** Finds what there is that the next checkpoint may go on from; any number of times, for checkpoints that fail before {@link #begin}. */
    public synchronized void ask(CheckpointWriter writer) {
        if (isComplete && isNamed && hasAll(writer, last)) {
            counted = last;
            kept = Kept.ALL;
        } else {
            kept = hasAll(writer, counted) ? Kept.ALL_BUT_LAST : Kept.NOTHING;
            counted = kept == Kept.NOTHING ? List.of() : counted;
        }
    }

    private static boolean hasAll(CheckpointWriter writer, List<Step> steps) {
        return !steps.isEmpty() && contents(steps).allMatch(writer::has);
    }

    private static Stream<SectionContents> contents(List<Step> steps) {
        return steps.stream().flatMap(step -> step.sections().stream());
    }

    // ---- while it is made

    /** What was found. */
    public synchronized Kept kept() {
        return kept;
    }

    /** All of the state was written anew to sections that nobody asks for again. @param sections how many */
    public synchronized void written(long checkpoint, List<String> sections) {
        last = List.of(new Step(
                checkpoint,
                sections.stream().map(name -> new SectionContents(name, 0)).toList()));
        counted = List.of();
        number = checkpoint;
        isNamed = false;
        isComplete = true;
    }

    /**
     * Begins another step.
     *
     * @return the sections before it, which stay
     */
    synchronized List<SectionContents> begin(long checkpoint, boolean isWhole) {
        List<Step> next = new ArrayList<>(isWhole ? List.of() : counted);
        List<SectionContents> before = contents(next).toList();
        next.add(new Step(checkpoint, new ArrayList<>()));
        last = next;
        number = checkpoint;
        isNamed = true;
        isComplete = false;
        return before;
    }

    /** What the next section of the step is to have; {@link #add} follows when there is something in it. */
    synchronized SectionContents contents(String section) {
        begun = new SectionContents(section, CONTENTS.incrementAndGet());
        return begun;
    }

    /** Adds that section. */
    synchronized void add() {
        last.get(last.size() - 1).sections().add(begun);
    }

    /** The step is written to its end; one without sections is none, but for the first. */
    synchronized void end() {
        if (last.size() > 1 && last.get(last.size() - 1).sections().isEmpty()) {
            last = last.subList(0, last.size() - 1);
        }
        isComplete = true;
    }
}
