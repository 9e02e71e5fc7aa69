package dev.millrace.edge.program;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import java.util.List;
import java.util.Optional;

/**
 * What somebody needs of a stream's rows.
 *
 * @param columns whose values are read, those of the condition among them
 * @param condition of the rows; all without one
 */
public record RowProgram(List<String> columns, Optional<Term> condition) {
    public RowProgram {
        columns = List.copyOf(columns);
        if (condition.isPresent() && condition.get().kind() != Term.Kind.TRUTH) {
            throw MillraceException.user(
                    SqlState.INVALID_PARAMETER_VALUE, "the condition of a program for devices is no truth value");
        }
    }

    /**
     * As the package's description has it, in one line.
     *
     * @throws MillraceException 54000 if it is longer, deeper or larger than anybody reads
     */
    public String text() {
        return ProgramText.write(this);
    }

    /**
     * Reads one, whoever wrote it.
     *
     * @throws MillraceException 22023 if it is none, 0A000 if it is of another version, 54000 if it is too large
     */
    public static RowProgram parse(String text) {
        return ProgramText.read(text);
    }
}
