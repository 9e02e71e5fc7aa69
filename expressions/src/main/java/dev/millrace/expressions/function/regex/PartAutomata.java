package dev.millrace.expressions.function.regex;

import org.jspecify.annotations.Nullable;

/** The automata of one part, made when they are needed. Belongs to one thread. */
final class PartAutomata {
    /** Makes them. */
    interface Source {
        Program program(RegexSyntax syntax, boolean backwards);

        Automaton automaton(Program program, boolean backwards);
    }

    private final RegexPart part;
    private final Source source;
    private final int width;
    private @Nullable Program program; // each null until it is needed
    private @Nullable Automaton forwards;
    private @Nullable Automaton backwards;

    PartAutomata(RegexPart part, Source source) {
        this.part = part;
        this.source = source;
        this.width = RequiredLiteral.exactWidth(part.syntax);
    }

    /** How many bytes each match takes; -1 when they differ. */
    int width() {
        return width;
    }

    Program program() {
        if (program == null) {
            program = source.program(part.syntax, false);
        }
        return program;
    }

    /** Reads from the begin of a match. */
    Automaton forwards() {
        if (forwards == null) {
            forwards = source.automaton(program(), false);
        }
        return forwards;
    }

    /** Reads from the end of a match. */
    Automaton backwards() {
        if (backwards == null) {
            backwards = source.automaton(source.program(part.syntax, true), true);
        }
        return backwards;
    }
}
