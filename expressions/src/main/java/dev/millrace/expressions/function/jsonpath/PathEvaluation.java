package dev.millrace.expressions.function.jsonpath;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.expressions.function.jsonpath.JsonPath.Expression;
import dev.millrace.expressions.function.jsonpath.JsonPath.Node;
import dev.millrace.expressions.function.jsonpath.JsonPath.Nothing;
import dev.millrace.expressions.function.jsonpath.JsonPath.Part;
import dev.millrace.expressions.function.jsonpath.JsonPath.Predicate;
import dev.millrace.expressions.function.regex.Regex;
import dev.millrace.expressions.function.regex.RegexMatcher;
import dev.millrace.interrupt.Interrupt;
import dev.millrace.json.JsonScan;
import dev.millrace.text.TextBuffer;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/**
 * One evaluation of a path over a value. In lax mode arrays are unwrapped where a step wants their elements, anything is an
 * array of itself where a step wants an array, and what is not there is skipped; in strict mode these are errors, which in a
 * predicate make it unknown.
 */
final class PathEvaluation {
    /** A failure that makes a predicate unknown, and that silent functions pass over. */
    static final class Failure extends RuntimeException {
        private static final long serialVersionUID = 1L;
        private final transient MillraceException error;

        Failure(SqlState state, String message) {
            super(message, null, false, false);
            this.error = MillraceException.user(state, message);
        }

        MillraceException error() {
            return error;
        }
    }

    private static final int MOST_ITEMS = 1_000_000;
    private static final int MOST_ITEMS_PER_BYTE = 16; // a value has an item in two bytes at most
    private static final int MOST_DIGITS = 131_072; // of PostgreSQL's numeric, before its point

    private final JsonPath path;
    private final Object root;
    private final Optional<Part> variables;
    private final TextBuffer scratch;
    private final Function<Regex, RegexMatcher> matchers;
    private final long mostItems;
    private long count; // of items that were come by
    private int last = -1; // of the array whose subscripts are being evaluated

    /**
     * @param scratch for texts that regular expressions look at
     * @param length of the value in bytes: how many items may be come by depends on it
     */
    PathEvaluation(
            JsonPath path,
            Object root,
            Optional<Part> variables,
            TextBuffer scratch,
            Function<Regex, RegexMatcher> matchers,
            int length) {
        this.matchers = matchers;
        this.mostItems = MOST_ITEMS + (long) MOST_ITEMS_PER_BYTE * length;
        this.path = path;
        this.root = root;
        this.variables = variables;
        this.scratch = scratch;
    }

    /** Counts an item that was come by: a path may come by the same ones again and again. */
    private void count() {
        if ((++count & 1023) == 0) {
            Interrupt.checkCurrent();
            if (count > mostItems) {
                throw MillraceException.resources(
                                SqlState.STATEMENT_TOO_COMPLEX, "the JSON path goes over too many items")
                        .withHint("Steps like .** find an item in each value around it; several of them multiply.");
            }
        }
    }

    /** All that the path finds. */
    List<Object> items() {
        Node node = path.root();
        return node instanceof Predicate predicate
                ? List.of(item(test(predicate, root)))
                : evaluate((Expression) node, root);
    }

    /** The item at an address. */
    static Object item(long at, long limit) {
        if (JsonScan.isObject(at) || JsonScan.isArray(at)) {
            return new Part(at, limit);
        }
        if (JsonScan.isString(at)) {
            return new String(JsonScan.plain(at), StandardCharsets.UTF_8);
        }
        if (JsonScan.isNull(at)) {
            return Nothing.NULL;
        }
        byte[] bytes = new byte[(int) (JsonScan.end(at, limit) - at)];
        dev.millrace.memory.Memory.copyOut(at, bytes, 0, bytes.length);
        String text = new String(bytes, StandardCharsets.US_ASCII);
        return text.equals("true") || text.equals("false") ? (Object) text.equals("true") : number(text);
    }

    /**
     * A number that can be written out.
     *
     * @throws NumberFormatException if it is none
     * @throws MillraceException 22003 if it has more digits than a numeric can have
     */
    static BigDecimal number(String text) {
        BigDecimal number = new BigDecimal(text);
        if ((long) number.precision() - number.scale() > MOST_DIGITS || number.scale() > MOST_DIGITS) {
            throw MillraceException.user(SqlState.NUMERIC_VALUE_OUT_OF_RANGE, "value overflows numeric format");
        }
        return number.scale() < 0 ? number.setScale(0) : number;
    }

    private static Object item(Optional<Boolean> truth) {
        return truth.<Object>map(known -> known).orElse(Nothing.NULL);
    }

    private static boolean isArray(Object item) {
        return item instanceof Part part && JsonScan.isArray(part.at());
    }

    private static boolean isObject(Object item) {
        return item instanceof Part part && JsonScan.isObject(part.at());
    }

    private List<Object> elements(Object array) {
        Part part = (Part) array;
        List<Object> elements = new ArrayList<>();
        for (long at = JsonScan.first(part.at()); at != JsonScan.NONE; ) {
            count();
            elements.add(item(at, part.limit()));
            at = JsonScan.next(JsonScan.end(at, part.limit()));
        }
        return elements;
    }

    private List<Object> members(Object object) {
        Part part = (Part) object;
        List<Object> values = new ArrayList<>();
        for (long key = JsonScan.first(part.at()); key != JsonScan.NONE; ) {
            long value = JsonScan.valueOf(JsonScan.keyEnd(key));
            count();
            values.add(item(value, part.limit()));
            key = JsonScan.next(JsonScan.end(value, part.limit()));
        }
        return values;
    }

    private Optional<Object> member(Part object, String key) {
        byte[] bytes = key.getBytes(StandardCharsets.UTF_8);
        scratch.clear();
        scratch.append(bytes);
        long found = JsonScan.member(object.at(), object.limit(), scratch.address(), bytes.length);
        return found == JsonScan.NONE ? Optional.empty() : Optional.of(item(found, object.limit()));
    }

    /** The items with arrays as their elements, in lax mode. */
    private List<Object> unwrapped(List<Object> items) {
        if (path.strict() || items.stream().noneMatch(PathEvaluation::isArray)) {
            return items;
        }
        List<Object> all = new ArrayList<>();
        items.forEach(item -> all.addAll(isArray(item) ? elements(item) : List.of(item)));
        return all;
    }

    // ---- expressions -----------------------------------------------------------------------------------------------

    private List<Object> evaluate(Expression expression, Object current) {
        if (expression instanceof JsonPath.Root) {
            return List.of(root);
        } else if (expression instanceof JsonPath.Current) {
            return List.of(current);
        } else if (expression instanceof JsonPath.Constant constant) {
            return List.of(constant.item());
        } else if (expression instanceof JsonPath.Last) {
            return List.of(BigDecimal.valueOf(last));
        } else if (expression instanceof JsonPath.Variable variable) {
            return List.of(variables
                    .flatMap(all -> member(all, variable.name()))
                    .orElseThrow(() -> MillraceException.user(
                            SqlState.UNDEFINED_OBJECT,
                            "could not find jsonpath variable \"" + variable.name() + "\"")));
        } else if (expression instanceof JsonPath.Test test) {
            return List.of(item(test(test.predicate(), current)));
        } else if (expression instanceof JsonPath.Arithmetic arithmetic) {
            BigDecimal left = single(arithmetic.left(), current, "left", arithmetic.operator());
            BigDecimal right = single(arithmetic.right(), current, "right", arithmetic.operator());
            return List.of(PathNumbers.compute(arithmetic.operator(), left, right));
        } else if (expression instanceof JsonPath.Sign sign) {
            return signed(sign, current);
        }
        return step(expression, current);
    }

    private BigDecimal single(Expression operand, Object current, String side, char operator) {
        List<Object> items = unwrapped(evaluate(operand, current));
        if (items.size() != 1 || !(items.get(0) instanceof BigDecimal number)) {
            throw new Failure(
                    SqlState.SINGLETON_JSON_ITEM_REQUIRED,
                    side + " operand of jsonpath operator " + operator + " is not a single numeric value");
        }
        return number;
    }

    private List<Object> signed(JsonPath.Sign sign, Object current) {
        List<Object> results = new ArrayList<>();
        for (Object item : unwrapped(evaluate(sign.operand(), current))) {
            if (!(item instanceof BigDecimal number)) {
                throw new Failure(
                        SqlState.JSON_NUMBER_NOT_FOUND,
                        "operand of unary jsonpath operator " + (sign.negative() ? "-" : "+")
                                + " is not a numeric value");
            }
            results.add(sign.negative() ? number.negate() : number);
        }
        return results;
    }

    /** A step from each item of its base. */
    private List<Object> step(Expression expression, Object current) {
        List<Object> found = new ArrayList<>();
        if (expression instanceof JsonPath.Member member) {
            unwrapped(evaluate(member.base(), current)).forEach(item -> addMember(item, member.key(), found));
        } else if (expression instanceof JsonPath.AllMembers all) {
            for (Object item : unwrapped(evaluate(all.base(), current))) {
                if (isObject(item)) {
                    found.addAll(members(item));
                } else if (path.strict()) {
                    throw new Failure(
                            SqlState.JSON_OBJECT_NOT_FOUND,
                            "jsonpath wildcard member accessor can only be applied to an object");
                }
            }
        } else if (expression instanceof JsonPath.AllElements all) {
            for (Object item : evaluate(all.base(), current)) {
                if (path.strict() && !isArray(item)) {
                    throw new Failure(
                            SqlState.JSON_ARRAY_NOT_FOUND,
                            "jsonpath wildcard array accessor can only be applied to an array");
                }
                found.addAll(isArray(item) ? elements(item) : List.of(item));
            }
        } else if (expression instanceof JsonPath.Elements elements) {
            evaluate(elements.base(), current).forEach(item -> addElements(item, elements, current, found));
        } else if (expression instanceof JsonPath.Descendants descendants) {
            evaluate(descendants.base(), current).forEach(item -> addDescendants(item, 0, descendants, found));
        } else if (expression instanceof JsonPath.Filter filter) {
            for (Object item : unwrapped(evaluate(filter.base(), current))) {
                if (test(filter.predicate(), item).orElse(false)) {
                    found.add(item);
                }
            }
        } else if (expression instanceof JsonPath.Method method) {
            List<Object> items = evaluate(method.base(), current);
            boolean ofWhole = method.name().equals("type") || method.name().equals("size");
            (ofWhole ? items : unwrapped(items)).forEach(item -> found.add(called(method.name(), item)));
        }
        return found;
    }

    private void addMember(Object item, String key, List<Object> found) {
        if (!isObject(item)) {
            if (path.strict()) {
                throw new Failure(
                        SqlState.JSON_MEMBER_NOT_FOUND, "jsonpath member accessor can only be applied to an object");
            }
            return;
        }
        Optional<Object> value = member((Part) item, key);
        if (value.isEmpty() && path.strict()) {
            throw new Failure(SqlState.JSON_MEMBER_NOT_FOUND, "JSON object does not contain key \"" + key + "\"");
        }
        value.ifPresent(found::add);
    }

    private void addElements(Object item, JsonPath.Elements subscripts, Object current, List<Object> found) {
        if (path.strict() && !isArray(item)) {
            throw new Failure(SqlState.JSON_ARRAY_NOT_FOUND, "jsonpath array accessor can only be applied to an array");
        }
        List<Object> elements = isArray(item) ? elements(item) : List.of(item);
        int outer = last;
        last = elements.size() - 1;
        try {
            for (JsonPath.Range range : subscripts.ranges()) {
                long from = index(range.from(), current);
                long to = range.to().isPresent() ? index(range.to().get(), current) : from;
                if (path.strict() && (from < 0 || from > to || to >= elements.size())) {
                    throw new Failure(SqlState.INVALID_JSON_SUBSCRIPT, "jsonpath array subscript is out of bounds");
                }
                for (long i = Math.max(0, from); i <= Math.min(to, elements.size() - 1); i++) {
                    found.add(elements.get((int) i));
                }
            }
        } finally {
            last = outer;
        }
    }

    private long index(Expression subscript, Object current) {
        List<Object> items = evaluate(subscript, current);
        if (items.size() != 1 || !(items.get(0) instanceof BigDecimal number)) {
            throw new Failure(
                    SqlState.INVALID_JSON_SUBSCRIPT, "jsonpath array subscript is not a single numeric value");
        }
        BigInteger whole = number.toBigInteger();
        if (whole.bitLength() > 31) {
            throw new Failure(SqlState.INVALID_JSON_SUBSCRIPT, "jsonpath array subscript is out of integer range");
        }
        return whole.longValue();
    }

    private void addDescendants(Object item, int depth, JsonPath.Descendants wanted, List<Object> found) {
        List<Object> below = isArray(item) ? elements(item) : isObject(item) ? members(item) : List.of();
        count();
        boolean atLeaf = wanted.least() == Integer.MAX_VALUE && !(item instanceof Part);
        if (atLeaf || depth >= wanted.least() && depth <= wanted.most()) {
            found.add(item);
        }
        if (depth < wanted.most()) {
            below.forEach(each -> addDescendants(each, depth + 1, wanted, found));
        }
    }

    private Object called(String method, Object item) {
        return switch (method) {
            case "type" -> type(item);
            case "size" -> {
                if (!isArray(item) && path.strict()) {
                    throw new Failure(
                            SqlState.JSON_ARRAY_NOT_FOUND,
                            "jsonpath item method .size() can only be applied to an array");
                }
                yield BigDecimal.valueOf(isArray(item) ? elements(item).size() : 1);
            }
            case "keyvalue", "datetime" -> throw PathParser.notAvailable(method);
            default -> PathNumbers.called(method, item);
        };
    }

    static String type(Object item) {
        if (item instanceof Part) {
            return isArray(item) ? "array" : "object";
        }
        return item instanceof String
                ? "string"
                : item instanceof BigDecimal ? "number" : item instanceof Boolean ? "boolean" : "null";
    }

    // ---- predicates ------------------------------------------------------------------------------------------------

    /** Empty for unknown. */
    private Optional<Boolean> test(Predicate predicate, Object current) {
        if (predicate instanceof JsonPath.And and) {
            Optional<Boolean> left = test(and.left(), current);
            if (left.isPresent() && !left.get()) {
                return left;
            }
            Optional<Boolean> right = test(and.right(), current);
            return right.isPresent() && !right.get() || left.isPresent() ? right : left;
        } else if (predicate instanceof JsonPath.Or or) {
            Optional<Boolean> left = test(or.left(), current);
            if (left.isPresent() && left.get()) {
                return left;
            }
            Optional<Boolean> right = test(or.right(), current);
            return right.isPresent() && right.get() || left.isPresent() ? right : left;
        } else if (predicate instanceof JsonPath.Not not) {
            return test(not.operand(), current).map(truth -> !truth);
        } else if (predicate instanceof JsonPath.IsUnknown unknown) {
            return Optional.of(test(unknown.operand(), current).isEmpty());
        }
        try {
            return tested(predicate, current);
        } catch (Failure e) {
            return Optional.empty();
        }
    }

    private interface Pair {
        Optional<Boolean> test(Object left, Object right);
    }

    private Optional<Boolean> tested(Predicate predicate, Object current) {
        if (predicate instanceof JsonPath.Exists exists) {
            return Optional.of(!evaluate(exists.operand(), current).isEmpty());
        } else if (predicate instanceof JsonPath.Comparison comparison) {
            return any(
                    unwrapped(evaluate(comparison.left(), current)),
                    unwrapped(evaluate(comparison.right(), current)),
                    (left, right) -> PathNumbers.compare(comparison.operator(), left, right));
        } else if (predicate instanceof JsonPath.StartsWith starts) {
            return any(
                    unwrapped(evaluate(starts.operand(), current)),
                    evaluate(starts.start(), current),
                    (left, right) -> left instanceof String text && right instanceof String start
                            ? Optional.of(text.startsWith(start))
                            : Optional.empty());
        }
        JsonPath.Matches matches = (JsonPath.Matches) predicate;
        RegexMatcher matcher = matchers.apply(matches.regex());
        return any(unwrapped(evaluate(matches.operand(), current)), List.of(""), (left, none) -> {
            if (!(left instanceof String text)) {
                return Optional.empty();
            }
            scratch.clear();
            scratch.append(text.getBytes(StandardCharsets.UTF_8));
            matcher.reset(scratch.address(), (int) scratch.length());
            return Optional.of(matcher.matches());
        });
    }

    /** Whether it holds for any pair. What cannot be compared makes it unknown: in strict mode always, else if no pair holds. */
    private Optional<Boolean> any(List<Object> lefts, List<Object> rights, Pair pair) {
        boolean unknown = false;
        boolean found = false;
        for (Object left : lefts) {
            for (Object right : rights) {
                count();
                Optional<Boolean> truth = pair.test(left, right);
                if (truth.isEmpty() && path.strict()) {
                    return truth;
                }
                unknown |= truth.isEmpty();
                found |= truth.orElse(false);
            }
        }
        return found ? Optional.of(true) : unknown ? Optional.empty() : Optional.of(false);
    }
}
