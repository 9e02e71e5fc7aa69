package dev.millrace.expressions.function.jsonpath;

import dev.millrace.expressions.function.regex.Regex;
import java.util.List;
import java.util.Optional;

/**
 * A parsed path.
 *
 * @param strict whether what does not fit the structure is an error
 */
record JsonPath(boolean strict, Node root) {
    /** The JSON null, among items: String, BigDecimal, Boolean, this, and {@link Part} for objects and arrays. */
    enum Nothing {
        NULL
    }

    /** An object or array within a text in normal form. */
    record Part(long at, long limit) {}

    /** An expression or predicate. */
    sealed interface Node {}

    /** What gives a sequence of items. */
    sealed interface Expression extends Node {}

    /** What is true, false or unknown of an item. */
    sealed interface Predicate extends Node {}

    record Root() implements Expression {}

    record Current() implements Expression {}

    record Last() implements Expression {}

    record Variable(String name) implements Expression {}

    record Constant(Object item) implements Expression {}

    record Member(Expression base, String key) implements Expression {}

    record AllMembers(Expression base) implements Expression {}

    record AllElements(Expression base) implements Expression {}

    /** An element, or those from one to another. */
    record Range(Expression from, Optional<Expression> to) {}

    record Elements(Expression base, List<Range> ranges) implements Expression {}

    /** Items at depths below, 0 being the item itself. */
    record Descendants(Expression base, int least, int most) implements Expression {}

    record Filter(Expression base, Predicate predicate) implements Expression {}

    /** @param argument the template of datetime, as it was written */
    record Method(Expression base, String name, Optional<String> argument) implements Expression {}

    record Arithmetic(char operator, Expression left, Expression right) implements Expression {}

    record Sign(boolean negative, Expression operand) implements Expression {}

    /** A predicate as an item: true, false or null. */
    record Test(Predicate predicate) implements Expression {}

    record Comparison(String operator, Expression left, Expression right) implements Predicate {}

    record And(Predicate left, Predicate right) implements Predicate {}

    record Or(Predicate left, Predicate right) implements Predicate {}

    record Not(Predicate operand) implements Predicate {}

    record IsUnknown(Predicate operand) implements Predicate {}

    record Exists(Expression operand) implements Predicate {}

    record StartsWith(Expression operand, Expression start) implements Predicate {}

    /** @param flags each once, in the order ismxq */
    record Matches(Expression operand, String pattern, String flags, Regex regex) implements Predicate {}
}
