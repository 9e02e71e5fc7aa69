package dev.millrace.sql.bind.function;

import dev.millrace.sql.catalog.UserFunction;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Functions that are short for an expression over others; {@code functions.txt} beside this class has one a
 * line, {@code name(parameter = default, ..) expression}. Safe on any thread.
 */
public final class BuiltInFunctions {
    /** Behind the name of a function whose first argument is an array. */
    private static final String OF_ARRAY = "[]";

    private static final BuiltInFunctions SCALAR = new BuiltInFunctions("functions.txt");

    private final Map<String, List<UserFunction>> functions;

    /** @param resource the name of the file beside this class that has them */
    public BuiltInFunctions(String resource) {
        functions = read(resource);
    }

    /** The function of this name that takes so many arguments. */
    public static Optional<UserFunction> find(String name, int arguments) {
        return SCALAR.named(name, arguments);
    }

    /** The function that takes so many arguments, the first of them an array; another is there for other types. */
    public static Optional<UserFunction> findOfArray(String name, int arguments) {
        return SCALAR.named(name + OF_ARRAY, arguments);
    }

    public Optional<UserFunction> named(String name, int arguments) {
        return functions.getOrDefault(name, List.of()).stream()
                .filter(function -> function.leastArguments() <= arguments
                        && arguments <= function.parameters().size())
                .findFirst();
    }

    /** All names, for suggestions. */
    public static Set<String> names() {
        return SCALAR.functions.keySet().stream()
                .filter(name -> !name.endsWith(OF_ARRAY))
                .collect(Collectors.toUnmodifiableSet());
    }

    /** How a function is called, if there is one. */
    public static Optional<String> forms(String name) {
        return SCALAR.describe(name);
    }

    public Optional<String> describe(String name) {
        List<UserFunction> forms = new ArrayList<>(functions.getOrDefault(name, List.of()));
        forms.addAll(functions.getOrDefault(name + OF_ARRAY, List.of()));
        return forms.isEmpty()
                ? Optional.empty()
                : Optional.of(forms.stream()
                        .map(form -> name + "("
                                + form.parameters().stream().map(Field::name).collect(Collectors.joining(", ")) + ")")
                        .distinct()
                        .collect(Collectors.joining(" or ")));
    }

    public Set<String> all() {
        return functions.keySet();
    }

    private static Map<String, List<UserFunction>> read(String resource) {
        Map<String, List<UserFunction>> functions = new HashMap<>();
        try (InputStream in = BuiltInFunctions.class.getResourceAsStream(resource)) {
            new String(in.readAllBytes(), StandardCharsets.UTF_8)
                    .lines()
                    .filter(line -> !line.isBlank() && !line.startsWith("#"))
                    .map(BuiltInFunctions::parse)
                    .forEach(function -> functions
                            .computeIfAbsent(function.name(), name -> new ArrayList<>())
                            .add(function));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return Map.copyOf(functions);
    }

    private static UserFunction parse(String line) {
        int open = line.indexOf('(');
        int close = line.indexOf(") ");
        List<Field> parameters = new ArrayList<>();
        List<String> defaults = new ArrayList<>();
        for (String parameter : line.substring(open + 1, close).split(",")) {
            if (!parameter.isBlank()) {
                String[] parts = parameter.split("=");
                parameters.add(new Field(parts[0].strip(), DataType.NULL, true));
                if (parts.length > 1) {
                    defaults.add(parts[1].strip());
                }
            }
        }
        return new UserFunction(
                line.substring(0, open),
                UserFunction.Kind.SQL,
                parameters,
                defaults,
                DataType.NULL,
                line.substring(close + 2).strip());
    }
}
