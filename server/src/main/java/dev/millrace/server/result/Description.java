package dev.millrace.server.result;

import dev.millrace.type.DataType;
import dev.millrace.type.Schema;
import java.util.List;
import java.util.Optional;

/**
 * What a statement takes and gives, found without running it.
 *
 * @param parameters the types of {@code $1}, {@code $2}, ...
 * @param columns of its rows; none for a statement without rows
 */
public record Description(List<DataType> parameters, Optional<Schema> columns) {
    public Description {
        parameters = List.copyOf(parameters);
    }
}
