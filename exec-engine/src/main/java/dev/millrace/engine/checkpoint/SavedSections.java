package dev.millrace.engine.checkpoint;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.operator.StateFormat;
import dev.millrace.operator.StateReader;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.function.IntFunction;
import java.util.function.IntPredicate;

/** The sections of a checkpoint, to be read in the format of this package. Safe on any thread. */
public final class SavedSections {
    private final CheckpointReader reader;
    private volatile Optional<MillraceException> failure =
            Optional.empty(); // the first; written by who reads, holding this

    public SavedSections(CheckpointReader reader) {
        this.reader = reader;
    }

    /** See {@link CheckpointReader#nameThen}. */
    public String nameThen(String name) {
        return reader.nameThen(name);
    }

    /** What went wrong first when sections were read: they are damaged (XX001), or could not be read (58030). */
    public Optional<MillraceException> failure() {
        return failure;
    }

    /** Takes one part of a section. */
    @FunctionalInterface
    public interface PartReader {
        void read(SectionInput part) throws IOException;
    }

    /** Whether there is a section of a name. @throws MillraceException as {@link #read(String, PartReader)} */
    public boolean has(String section) {
        return readAny(section, () -> false, part -> {});
    }

    /**
     * Reads all parts of a section, which has no states; false if there is none of the name.
     *
     * @throws MillraceException XX001 if it is damaged, 58030 if it cannot be read, 0A000 if another release wrote it otherwise
     */
    public boolean read(String section, PartReader parts) {
        return read(section, SectionOutput.VERSION, parts);
    }

    /** The same where parts are of several versions, which have the same bytes. */
    boolean read(String section, int newest, PartReader parts) {
        return readAny(section, part -> {
            part.requireVersionUpTo(newest);
            parts.read(part);
        });
    }

    /** The same of the part of a name that is there once: what is behind it is not looked at, for who reads all reads it later. */
    public void read(String section, String name, PartReader reader) {
        read(section, name, SectionOutput.VERSION, reader);
    }

    /** The same of a part that has changed since its first version. @param newest that can be read */
    public void read(String section, String name, int newest, PartReader reader) {
        boolean[] found = new boolean[1];
        readAny(section, () -> !found[0], part -> {
            if (part.name().equals(name)) {
                found[0] = true;
                part.requireVersionUpTo(newest);
                reader.read(part);
            }
        });
    }

    private boolean readAny(String section, PartReader parts) {
        return readAny(section, () -> true, parts);
    }

    private boolean readAny(String section, BooleanSupplier goesOn, PartReader parts) {
        try {
            return readUnwatched(section, goesOn, parts);
        } catch (MillraceException e) {
            boolean isOfFiles = e.sqlState() == SqlState.DATA_CORRUPTED || e.sqlState() == SqlState.IO_ERROR;
            if (isOfFiles) {
                failed(e);
            }
            throw e;
        }
    }

    private synchronized void failed(MillraceException e) {
        if (failure.isEmpty()) {
            failure = Optional.of(e);
        }
    }

    private boolean readUnwatched(String section, BooleanSupplier goesOn, PartReader parts) {
        try {
            Optional<InputStream> bytes = reader.open(section);
            if (bytes.isEmpty()) {
                return false;
            }
            try (SectionInput input = new SectionInput(section, bytes.get())) {
                while (goesOn.getAsBoolean() && input.next()) {
                    parts.read(input);
                }
            }
            return true;
        } catch (EOFException e) {
            throw MillraceException.external(
                    SqlState.DATA_CORRUPTED, "section \"" + section + "\" of a checkpoint lacks bytes", e);
        } catch (IOException e) {
            throw MillraceException.external(
                    SqlState.IO_ERROR,
                    "section \"" + section + "\" of a checkpoint could not be read: " + e.getMessage(),
                    e);
        }
    }

    /**
     * Where the state of an operator is.
     *
     * @param sections by their numbers from 0 on
     * @param steps that these are of; if there are none, all sections that there are have all of it
     */
    public record OperatorState(IntFunction<String> sections, Optional<List<StateSteps.Step>> steps) {}

    /**
     * The state that operators wrote to some sections, of the key groups asked for, and of no key group; what had changed in the order
     * in which that was written.
     *
     * @param schemaHash of what it must be
     */
    public StateReader states(List<OperatorState> operators, long schemaHash, IntPredicate groups) {
        Map<String, Set<String>> names = new HashMap<>(); // of a section that was read
        return (state, restore) -> {
            for (OperatorState operator : operators) {
                PartReader parts = part -> {
                    if (part.name().equals(state.name()) && (part.group() < 0 || groups.test(part.group()))) {
                        part.requireVersion(state.version());
                        part.requireSchema(schemaHash);
                        restore.read(part.part(), part.group());
                    }
                };
                if (operator.steps().isPresent()) {
                    readSteps(operator, state, parts, names);
                } else if (!StateFormats.isOfChanges(state)) {
                    for (int number = 0; readStates(operator.sections().apply(number), state, parts, names); ) {
                        number++;
                    }
                }
            }
        };
    }

    /** Returns whether there is a section of the name. */
    private boolean readStates(String section, StateFormat state, PartReader parts, Map<String, Set<String>> names) {
        Set<String> known = names.get(section);
        if (known != null && !known.contains(state.name())) {
            return !known.isEmpty(); // none has no part
        }
        Set<String> there = new HashSet<>();
        boolean found = readAny(section, part -> {
            there.add(part.name());
            parts.read(part);
        });
        names.put(section, there);
        return found;
    }

    /** Reads the first step of a state, or all others of what changed of it. */
    private void readSteps(
            OperatorState operator, StateFormat state, PartReader parts, Map<String, Set<String>> names) {
        int number = 0;
        boolean isWhole = true;
        for (StateSteps.Step step : operator.steps().orElseThrow()) {
            for (int left = step.sections(); left > 0; left--, number++) {
                if (isWhole != StateFormats.isOfChanges(state)) {
                    readStep(operator.sections().apply(number), step.number(), state, parts, names);
                }
            }
            isWhole = false;
        }
    }

    private void readStep(
            String section, long step, StateFormat state, PartReader parts, Map<String, Set<String>> names) {
        Set<String> known = names.get(section);
        if (known != null && !known.contains(state.name())) {
            return;
        }
        boolean[] isOfStep = new boolean[1]; // said by the first part
        readStates(
                section,
                state,
                part -> {
                    isOfStep[0] |= part.name().equals(SectionOutput.STEP)
                            && part.part().readLong() == step;
                    if (!isOfStep[0]) {
                        throw notOfStep(section, step);
                    }
                    parts.read(part);
                },
                names);
        if (!isOfStep[0]) {
            failed(notOfStep(section, step));
            throw notOfStep(section, step);
        }
    }

    /**
     * Looks how a section begins.
     *
     * @throws MillraceException XX001 if it is not there, or does not begin as one of this step, and what {@link #read} says
     */
    void requireStep(String section, long step) {
        boolean[] isOfStep = new boolean[2]; // and whether anything was read
        readAny(section, () -> !isOfStep[1], part -> {
            isOfStep[1] = true;
            isOfStep[0] = part.name().equals(SectionOutput.STEP) && part.part().readLong() == step;
        });
        if (!isOfStep[0]) {
            failed(notOfStep(section, step));
            throw notOfStep(section, step);
        }
    }

    private static MillraceException notOfStep(String section, long step) {
        return MillraceException.external(
                SqlState.DATA_CORRUPTED,
                "section \"" + section + "\" of a checkpoint is not there as one of step " + step + " of its state");
    }
}
