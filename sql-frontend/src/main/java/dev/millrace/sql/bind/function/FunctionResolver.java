package dev.millrace.sql.bind.function;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.interrupt.Interrupt;
import dev.millrace.plan.function.FunctionCatalog;
import dev.millrace.plan.function.ResultRule;
import dev.millrace.plan.function.Signature;
import dev.millrace.plan.function.Signature.Parameter;
import dev.millrace.sql.algebra.Literals;
import dev.millrace.sql.algebra.Rex;
import dev.millrace.sql.bind.type.Coercions;
import dev.millrace.sql.bind.type.Coercions.Strength;
import dev.millrace.sql.bind.type.Errors;
import dev.millrace.type.DataType;
import dev.millrace.type.DataType.Kind;
import dev.millrace.type.PlainNumeric;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.rex.RexUtil;
import org.apache.calcite.sql.SqlCall;
import org.apache.calcite.sql.SqlNode;

/**
 * Chooses among the overloads of a function or operator as PostgreSQL does (sections 10.2 and 10.3 of its manual): most
 * exact matches, then most preferred types, then the order of the catalog; and casts the arguments to what was chosen.
 */
public final class FunctionResolver {
    private static final Set<String> WHOLE_OF_DAYS =
            Set.of("epoch", "julian", "jd"); // fields that have digits behind the point of times alone
    private static final Set<String> ARITHMETIC = Set.of("add", "subtract", "multiply", "divide", "mod");
    private static final Set<String> COMPARISONS =
            Set.of("eq", "ne", "lt", "le", "gt", "ge", "is_distinct_from", "is_not_distinct_from");

    /** Strict functions that can still give NULL. */
    private static final Set<String> MAY_GIVE_NULL = Set.of(
            "regexp_substr",
            "regexp_extract",
            "regexp_part",
            "substring_similar",
            "split_index",
            "nullif",
            "to_number",
            "width_bucket",
            "subscript",
            "array_position",
            "array_positions",
            "array_any",
            "array_all",
            "array_length",
            "array_lower",
            "array_upper",
            "array_ndims",
            "array_dims",
            "array_cat",
            "array_fill",
            "array_set",
            "array_set_slice",
            "regexp_match",
            "json_path_first",
            "json_path_exists",
            "json_path_match",
            "json_get",
            "json_get_text",
            "json_at",
            "json_at_text",
            "jsonb_extract_path",
            "jsonb_extract_path_text");

    /** What makes a longer array of elements. */
    private static final Set<String> JOINING = Set.of("array_append", "array_prepend", "array_cat");

    private static final DataType SOME_NUMERIC = DataType.numeric(DataType.MAX_NUMERIC_PRECISION, 16);

    private final Coercions coercions;

    public FunctionResolver(Coercions coercions) {
        this.coercions = coercions;
    }

    /** The canonical name of a SQL function name, if there is such a function. */
    public static Optional<String> canonical(String name) {
        String canonical = FunctionCatalog.ALIASES.getOrDefault(name, name);
        return isThere(canonical) && !OperatorNames.ALL.contains(canonical) ? Optional.of(canonical) : Optional.empty();
    }

    /** Whether there is a form of the function that does not need numbers of any size, or these are there. */
    private static boolean isThere(String canonical) {
        return FunctionCatalog.overloads(canonical).stream()
                .anyMatch(overload -> PlainNumeric.isUnlimited() || !isOfBignum(overload));
    }

    /** Whether it takes numbers of any size. */
    private static boolean isOfBignum(Signature signature) {
        return signature.parameters().stream()
                .anyMatch(parameter -> parameter.kind().equals(Optional.of(Kind.BIGNUM)));
    }

    /** All names that SQL can call, for suggestions. */
    public static List<String> names() {
        List<String> names = new ArrayList<>(FunctionCatalog.ALIASES.keySet());
        FunctionCatalog.names().forEach(name -> {
            if (!OperatorNames.ALL.contains(name) && isThere(name)) {
                names.add(name);
            }
        });
        return names;
    }

    /** A call of an operator by its canonical name; 42883 when there is none for these types. */
    public RexNode operator(String name, List<RexNode> arguments, SqlNode where) {
        Interrupt.checkCurrent(); // IN of a hundred thousand constants asks for as many
        List<RexNode> operands = arguments;
        if (ARITHMETIC.contains(name)) {
            operands = realWithOthersIsDouble(arguments);
        }
        Optional<Signature> signature = choose(name, operands);
        if (signature.isEmpty() && (name.equals("add") || name.equals("multiply"))) {
            List<RexNode> swapped = new ArrayList<>(operands);
            Collections.reverse(swapped);
            signature = choose(name, swapped);
            operands = swapped;
        }
        if (signature.isEmpty()) {
            throw noOperator(OperatorNames.symbol(name), arguments, where);
        }
        return call(signature.get(), operands, where);
    }

    /** The error for an operator that there is not for these types. */
    public static MillraceException noOperator(String symbol, List<RexNode> arguments, SqlNode where) {
        String types = arguments.size() == 1
                ? symbol + " " + typeName(arguments.get(0))
                : typeName(arguments.get(0)) + " " + symbol + " " + typeName(arguments.get(1));
        return Errors.error(SqlState.UNDEFINED_FUNCTION, "operator does not exist: " + types, where)
                .withHint("no operator matches these types; an explicit cast may help, such as x::numeric");
    }

    /** A call of a function by its canonical name. */
    public RexNode function(String canonical, String shownName, List<RexNode> arguments, SqlNode where) {
        Optional<Signature> signature = choose(canonical, arguments)
                .or(() -> canonical.equals("array_cat") ? beside(arguments) : Optional.empty());
        if (signature.isPresent()) {
            return call(signature.get(), arguments, where);
        }
        throw doesNotExist(shownName, arguments, where)
                .withHint("it takes "
                        + FunctionCatalog.overloads(canonical).stream()
                                .filter(overload -> isAvailable(overload, arguments))
                                .map(overload -> describe(shownName, overload))
                                .distinct() // NUMERIC and BIGNUM are one type to SQL
                                .collect(Collectors.joining(" or ")));
    }

    /** Of two arrays the one of fewer dimensions is an element of the other. */
    private Optional<Signature> beside(List<RexNode> arguments) {
        return choose("array_append", arguments).or(() -> choose("array_prepend", arguments));
    }

    /** The error for a function that is not there. */
    public static MillraceException doesNotExist(String name, List<RexNode> arguments, SqlNode where) {
        String types = arguments.stream().map(FunctionResolver::typeName).collect(Collectors.joining(", "));
        MillraceException error =
                Errors.error(SqlState.UNDEFINED_FUNCTION, "function " + name + "(" + types + ") does not exist", where);
        return ForeignFunctions.ours(name).map(error::withHint).orElse(error);
    }

    private static String typeName(RexNode node) {
        return Coercions.name(Coercions.type(node));
    }

    private static String describe(String name, Signature signature) {
        String parameters =
                signature.parameters().stream().map(FunctionResolver::describe).collect(Collectors.joining(", "));
        return name + "(" + parameters + (signature.variadic() ? ", ..." : "") + ")";
    }

    private static String describe(Parameter parameter) {
        if (parameter.isArray()) {
            return parameter.element().map(kind -> Coercions.name(sample(kind))).orElse("any") + "[]";
        }
        return parameter.kind().map(kind -> Coercions.name(sample(kind))).orElse("any");
    }

    private List<RexNode> realWithOthersIsDouble(List<RexNode> arguments) {
        boolean real = arguments.stream().anyMatch(node -> Coercions.type(node).kind() == Kind.REAL);
        boolean others =
                arguments.stream().map(Coercions::type).anyMatch(type -> type.isNumber() && type.kind() != Kind.REAL);
        return real && others
                ? arguments.stream()
                        .map(node -> Coercions.type(node).isNumber() ? coercions.convert(node, DataType.DOUBLE) : node)
                        .toList()
                : arguments;
    }

    // ---- choosing --------------------------------------------------------------------------------------------------

    private static Optional<Signature> choose(String name, List<RexNode> arguments) {
        Optional<Signature> best = Optional.empty();
        int bestScore = -1;
        for (Signature signature : FunctionCatalog.overloads(name)) {
            if (signature.takes(arguments.size()) && isAvailable(signature, arguments)) {
                int score = score(signature, arguments);
                if (score > bestScore) {
                    best = Optional.of(signature);
                    bestScore = score;
                }
            }
        }
        return best;
    }

    /** Numbers of any size are computed with where NUMERIC has no limit, or there are some. */
    private static boolean isAvailable(Signature signature, List<RexNode> arguments) {
        return !isOfBignum(signature)
                || PlainNumeric.isUnlimited()
                || arguments.stream().anyMatch(node -> Coercions.type(node).kind() == Kind.BIGNUM);
    }

    /** Exact matches count most, preferred types break ties; -1 when an argument does not fit. */
    private static int score(Signature signature, List<RexNode> arguments) {
        int score = 0;
        List<RexNode> same = new ArrayList<>();
        for (int i = 0; i < arguments.size(); i++) {
            Parameter parameter = signature.parameter(i);
            if (parameter.isArray()) {
                if (!takesArray(parameter, arguments.get(i))) {
                    return -1;
                }
                score += Coercions.isUnknown(arguments.get(i)) ? 0 : 100;
                elementOf(parameter, arguments.get(i)).ifPresent(same::add);
                continue;
            }
            if (parameter.same()) {
                same.add(arguments.get(i));
            }
            if (parameter.kind().isEmpty()) {
                continue;
            }
            Kind kind = parameter.kind().get();
            DataType type = Coercions.type(arguments.get(i));
            if (type.kind() == Kind.NULL && arguments.size() == 2) {
                // An unknown operand is taken for the type of the other one.
                type = Coercions.type(arguments.get(1 - i));
                if (!matches(type, kind)) {
                    score += isPreferred(kind) ? 1 : 0;
                    continue;
                }
            }
            if (matches(type, kind)) {
                score += 100;
            } else if (type.kind() == Kind.NULL || Coercions.allowed(type, sample(kind), Strength.IMPLICIT)) {
                score += isPreferred(kind) ? 1 : 0;
            } else {
                return -1;
            }
        }
        return same.isEmpty() || Coercions.common(same).isPresent() ? score : -1;
    }

    private static boolean takesArray(Parameter parameter, RexNode argument) {
        DataType type = Coercions.type(argument);
        return type.kind() == Kind.NULL
                || type.kind() == Kind.ARRAY
                        && parameter
                                .element()
                                .map(kind -> Coercions.allowed(type.element(), sample(kind), Strength.IMPLICIT))
                                .orElse(true);
    }

    /** What stands for an element of an array among the arguments that must have one type. */
    private static Optional<RexNode> elementOf(Parameter parameter, RexNode argument) {
        DataType type = Coercions.type(argument);
        return parameter.same() && type.kind() == Kind.ARRAY
                ? Optional.of(Rex.nullOf(type.element()))
                : Optional.empty();
    }

    private static boolean matches(DataType type, Kind kind) {
        return type.kind() == kind
                || kind == Kind.TEXT && Coercions.isCharacter(type)
                || kind == Kind.BIGNUM && type.isExact(); // to SQL they are one type
    }

    private static boolean isPreferred(Kind kind) {
        return kind == Kind.DOUBLE || kind == Kind.TEXT || kind == Kind.TIMESTAMPTZ;
    }

    private static DataType sample(Kind kind) {
        return kind == Kind.NUMERIC ? SOME_NUMERIC : new DataType(kind, 0, 0, List.of());
    }

    // ---- calling ---------------------------------------------------------------------------------------------------

    private RexNode call(Signature signature, List<RexNode> arguments, SqlNode where) {
        String name = signature.name();
        List<RexNode> same = new ArrayList<>();
        for (int i = 0; i < arguments.size(); i++) {
            Interrupt.checkSometimes(i);
            if (signature.parameter(i).isArray()) {
                elementOf(signature.parameter(i), arguments.get(i)).ifPresent(same::add);
            } else if (signature.parameter(i).same()) {
                same.add(arguments.get(i));
            }
        }
        DataType one = Coercions.common(same).orElse(DataType.TEXT);
        boolean joins = JOINING.contains(name) && arguments.stream().allMatch(RexUtil::isConstant);
        DataType common = joins ? Coercions.keepingDigits(one, same) : one;
        List<RexNode> converted = new ArrayList<>(arguments.size());
        for (int i = 0; i < arguments.size(); i++) {
            Interrupt.checkSometimes(i);
            RexNode argument = arguments.get(i);
            Parameter parameter = signature.parameter(i);
            try {
                if (parameter.isArray()) {
                    DataType element = parameter.same()
                            ? common
                            : parameter.element().map(FunctionResolver::sample).orElse(DataType.TEXT);
                    converted.add(coercions.convert(argument, DataType.array(element)));
                } else if (parameter.same()) {
                    boolean keep = COMPARISONS.contains(name) && bothUnpadded(Coercions.type(argument), common);
                    converted.add(keep ? argument : coercions.convert(argument, common));
                } else {
                    converted.add(
                            parameter.kind().isEmpty()
                                    ? written(name, coercions.decided(argument))
                                    : convert(argument, parameter.kind().get()));
                }
            } catch (MillraceException e) {
                throw Errors.at(e, argumentSyntax(where, i, arguments.size()));
            }
        }
        Optional<RexNode> zoned = coercions
                .times()
                .flatMap(times -> times.call(
                        name, converted, given -> plain(choose(name, given).orElseThrow(), given)));
        return zoned.orElseGet(() -> plain(signature, converted));
    }

    private RexNode written(String function, RexNode argument) {
        return coercions.times().map(times -> times.written(function, argument)).orElse(argument);
    }

    /** A call with arguments of the types that it takes. */
    private RexNode plain(Signature signature, List<RexNode> converted) {
        String name = signature.name();
        List<DataType> types = converted.stream().map(Coercions::type).toList();
        if (needsBignum(signature, types)) {
            List<RexNode> widened = new ArrayList<>();
            for (int i = 0; i < converted.size(); i++) {
                boolean exact = types.get(i).isExact();
                widened.add(exact ? coercions.convert(converted.get(i), DataType.BIGNUM) : converted.get(i));
            }
            return plain(choose(name, widened).orElseThrow(), widened);
        }
        DataType result = signature.resultType(types);
        if (name.equals("extract")) {
            boolean day = types.get(1).kind() == Kind.DATE;
            result = Literals.textOf(converted.get(0))
                    .map(field -> ResultRule.extract(
                            day && WHOLE_OF_DAYS.contains(field.toLowerCase(Locale.ROOT)) ? "day" : field))
                    .orElse(result);
        }
        return Rex.call(name, converted, result, nullable(signature, converted));
    }

    /** Whether a function of NUMERIC has an argument, or a result, that NUMERIC has no room for. */
    private static boolean needsBignum(Signature signature, List<DataType> types) {
        boolean ofNumeric = false;
        boolean ofBignum = false;
        for (int i = 0; i < types.size(); i++) {
            if (signature.parameter(i).kind().equals(Optional.of(Kind.NUMERIC))) {
                ofNumeric = true;
                ofBignum |= types.get(i).kind() == Kind.BIGNUM;
            }
        }
        return ofBignum || ofNumeric && signature.resultType(types).kind() == Kind.BIGNUM;
    }

    /** The place of an argument in the text, or of the call where its operands are not the arguments. */
    private static SqlNode argumentSyntax(SqlNode where, int argument, int arguments) {
        return where instanceof SqlCall call && call.operandCount() == arguments && call.operand(argument) != null
                ? call.operand(argument)
                : where;
    }

    /** Whether texts compare without a cast: only CHAR's padding makes a difference. */
    private static boolean bothUnpadded(DataType type, DataType common) {
        boolean padded = common.kind() == Kind.CHAR;
        return padded
                ? type.kind() == Kind.CHAR
                : Coercions.isCharacter(common) && (type.kind() == Kind.VARCHAR || type.kind() == Kind.TEXT);
    }

    private RexNode convert(RexNode argument, Kind kind) {
        DataType type = Coercions.type(argument);
        if (type.kind() == kind || kind == Kind.TEXT && type.kind() == Kind.VARCHAR) {
            return argument;
        }
        if (kind == Kind.NUMERIC) {
            Optional<String> text = Coercions.unknownText(argument);
            return text.isPresent()
                    ? numericOf(text.get())
                    : coercions.convert(argument, Coercions.asNumeric(argument));
        }
        return coercions.convert(argument, sample(kind));
    }

    /** A quoted number with the digits it has. */
    public static RexNode numericOf(String text) {
        return Rex.literal(Literals.number(text));
    }

    private static boolean nullable(Signature signature, List<RexNode> arguments) {
        boolean any = arguments.stream().anyMatch(node -> node.getType().isNullable());
        if (MAY_GIVE_NULL.contains(signature.name())) {
            return true;
        }
        return switch (signature.name()) {
            case "is_null",
                    "is_not_null",
                    "is_true",
                    "is_not_true",
                    "is_false",
                    "is_not_false",
                    "is_distinct_from",
                    "is_not_distinct_from",
                    "concat",
                    "make_array",
                    "make_row",
                    "array_append",
                    "array_prepend",
                    "jsonb_build_array",
                    "jsonb_build_object" -> false;
            case "coalesce", "greatest", "least" ->
                arguments.stream().allMatch(node -> node.getType().isNullable());
            case "array_remove", "array_replace" -> arguments.get(0).getType().isNullable();
            case "concat_ws" -> arguments.get(0).getType().isNullable();
            default -> any;
        };
    }
}
