package dev.millrace.connector.query;

import dev.millrace.type.DataType;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Files in FROM, and what is said of how they are read.
 *
 * @param function {@code read_csv} or another; empty where the file's name stands by itself
 * @param paths of files, or patterns; at least one
 * @param options texts of values by names in lower case, in the order of the text; a value that is no list is a list of one
 * @param types of columns, by their names
 * @param isWhole whether these are all columns there are
 */
public record FileCall(
        String function,
        List<String> paths,
        Map<String, List<String>> options,
        Map<String, DataType> types,
        boolean isWhole) {
    public FileCall {
        paths = List.copyOf(paths);
        options = Collections.unmodifiableMap(new LinkedHashMap<>(options));
        types = Collections.unmodifiableMap(new LinkedHashMap<>(types));
    }
}
