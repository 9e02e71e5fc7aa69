package dev.millrace.plan.function;

import dev.millrace.type.DataType;
import dev.millrace.type.DataType.Kind;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * One overload of a function.
 *
 * @param variadic whether the last parameter may repeat
 * @param strict whether the result is NULL as soon as an argument is, without calling the function
 */
public record Signature(String name, List<Parameter> parameters, boolean variadic, ResultRule result, boolean strict) {

    /**
     * What a place takes.
     *
     * @param kind the kind of type, or empty for any
     * @param same whether all such places have one type, the common one of the arguments; for an array it is that of the
     *     elements
     * @param optional whether the argument may be left out; only at the end
     * @param element the kind of an array's elements, or empty for any
     */
    public record Parameter(Optional<Kind> kind, boolean same, boolean optional, Optional<Kind> element) {
        /** Whether it takes arrays. */
        public boolean isArray() {
            return kind.equals(Optional.of(Kind.ARRAY));
        }
    }

    public Signature {
        parameters = List.copyOf(parameters);
    }

    /** Whether so many arguments can be passed. */
    public boolean takes(int arguments) {
        long required =
                parameters.stream().filter(parameter -> !parameter.optional()).count();
        return arguments >= required && (variadic || arguments <= parameters.size());
    }

    /** The parameter that argument {@code index} is passed to. */
    public Parameter parameter(int index) {
        return parameters.get(Math.min(index, parameters.size() - 1));
    }

    /** The parameter that a type's name stands for. */
    static Parameter parameter(String type, boolean optional) {
        boolean array = type.endsWith("[]");
        String name = array ? type.substring(0, type.length() - 2) : type;
        return new Parameter(accepts(type), name.equals("T"), optional, array ? accepts(name) : Optional.empty());
    }

    /** The kind a parameter's type name stands for; empty for {@code any} and {@code T}. */
    static Optional<Kind> accepts(String type) {
        if (type.endsWith("[]")) {
            return Optional.of(Kind.ARRAY);
        }
        return type.equals("any") || type.equals("T")
                ? Optional.empty()
                : Optional.of(Kind.valueOf(type.toUpperCase(Locale.ROOT)));
    }

    /** The result's type for arguments that were already cast to the parameters' types. */
    public DataType resultType(List<DataType> arguments) {
        return result.apply(arguments, common(arguments));
    }

    /** What {@code T} stands for; NULL when no parameter says. */
    private DataType common(List<DataType> arguments) {
        for (int i = 0; i < arguments.size(); i++) {
            Parameter parameter = parameter(i);
            if (parameter.same()) {
                return parameter.isArray() ? arguments.get(i).element() : arguments.get(i);
            }
        }
        return DataType.NULL;
    }
}
