package dev.millrace.expressions.function.jsonpath;

import dev.millrace.expressions.function.jsonpath.JsonPath.Expression;
import dev.millrace.expressions.function.jsonpath.JsonPath.Node;
import dev.millrace.expressions.function.jsonpath.JsonPath.Nothing;
import dev.millrace.expressions.function.jsonpath.JsonPath.Range;
import java.math.BigDecimal;
import java.util.function.Consumer;

/**
 * A path in PostgreSQL's normal form: names in quotes, blanks around operators and nowhere else, brackets where they are needed. What is
 * written is read as the same path.
 */
final class NormalPath {
    private static final int UNARY = 5;
    private static final int HIGHEST = 6;

    private final StringBuilder out = new StringBuilder();

    private NormalPath() {}

    /** @throws dev.millrace.error.MillraceException 54001 if the path is nested too deeply */
    static String of(JsonPath path) {
        NormalPath normal = new NormalPath();
        if (path.strict()) {
            normal.out.append("strict ");
        }
        try {
            normal.write(path.root(), true);
        } catch (StackOverflowError e) {
            throw PathParser.tooDeep();
        }
        return normal.out.toString();
    }

    /** How tightly an operator binds: or, and, comparisons, sums, products, signs. What is no operator binds the most. */
    private static int priority(Node node) {
        if (node instanceof JsonPath.Or) {
            return 0;
        } else if (node instanceof JsonPath.And) {
            return 1;
        } else if (node instanceof JsonPath.Comparison || node instanceof JsonPath.StartsWith) {
            return 2;
        } else if (node instanceof JsonPath.Arithmetic arithmetic) {
            return arithmetic.operator() == '+' || arithmetic.operator() == '-' ? 3 : 4;
        }
        return node instanceof JsonPath.Sign ? UNARY : HIGHEST;
    }

    /** @param bracketed whether an operator has brackets around it */
    private void write(Node node, boolean bracketed) {
        if (node instanceof JsonPath.Or or) {
            binary(node, or.left(), "||", or.right(), bracketed);
        } else if (node instanceof JsonPath.And and) {
            binary(node, and.left(), "&&", and.right(), bracketed);
        } else if (node instanceof JsonPath.Comparison comparison) {
            binary(node, comparison.left(), comparison.operator(), comparison.right(), bracketed);
        } else if (node instanceof JsonPath.StartsWith starts) {
            binary(node, starts.operand(), "starts with", starts.start(), bracketed);
        } else if (node instanceof JsonPath.Matches matches) {
            brackets(bracketed, () -> matches(matches));
        } else if (node instanceof JsonPath.Not not) {
            around("!(", not.operand(), ")");
        } else if (node instanceof JsonPath.IsUnknown unknown) {
            around("(", unknown.operand(), ") is unknown");
        } else if (node instanceof JsonPath.Exists exists) {
            around("exists (", exists.operand(), ")");
        } else if (node instanceof JsonPath.Arithmetic arithmetic) {
            binary(node, arithmetic.left(), String.valueOf(arithmetic.operator()), arithmetic.right(), bracketed);
        } else if (node instanceof JsonPath.Sign sign) {
            brackets(bracketed, () -> {
                out.append(sign.negative() ? '-' : '+');
                write(sign.operand(), priority(sign.operand()) <= UNARY);
            });
        } else if (node instanceof JsonPath.Test test) {
            write(test.predicate(), bracketed);
        } else {
            item(node);
        }
    }

    private void binary(Node node, Node left, String operator, Node right, boolean bracketed) {
        brackets(bracketed, () -> {
            write(left, priority(left) <= priority(node));
            out.append(' ').append(operator).append(' ');
            write(right, priority(right) <= priority(node));
        });
    }

    private void matches(JsonPath.Matches matches) {
        write(matches.operand(), true);
        out.append(" like_regex ");
        quoted(matches.pattern());
        if (!matches.flags().isEmpty()) {
            out.append(" flag ");
            quoted(matches.flags());
        }
    }

    private void brackets(boolean bracketed, Runnable inside) {
        out.append(bracketed ? "(" : "");
        inside.run();
        out.append(bracketed ? ")" : "");
    }

    private void around(String before, Node inside, String behind) {
        out.append(before);
        write(inside, false);
        out.append(behind);
    }

    /** What is no operator: an item, or a step from its base. */
    private void item(Node node) {
        if (node instanceof JsonPath.Root) {
            out.append('$');
        } else if (node instanceof JsonPath.Current) {
            out.append('@');
        } else if (node instanceof JsonPath.Last) {
            out.append("last");
        } else if (node instanceof JsonPath.Variable variable) {
            out.append('$');
            quoted(variable.name());
        } else if (node instanceof JsonPath.Constant constant) {
            constant(constant.item());
        } else if (node instanceof JsonPath.Member member) {
            step(member.base(), to -> {
                to.append('.');
                quoted(member.key());
            });
        } else if (node instanceof JsonPath.AllMembers all) {
            step(all.base(), to -> to.append(".*"));
        } else if (node instanceof JsonPath.AllElements all) {
            step(all.base(), to -> to.append("[*]"));
        } else if (node instanceof JsonPath.Elements elements) {
            step(elements.base(), to -> subscripts(elements));
        } else if (node instanceof JsonPath.Descendants below) {
            step(below.base(), to -> to.append(".**").append(levels(below.least(), below.most())));
        } else if (node instanceof JsonPath.Filter filter) {
            step(filter.base(), to -> around("?(", filter.predicate(), ")"));
        } else if (node instanceof JsonPath.Method method) {
            step(method.base(), to -> {
                to.append('.').append(method.name()).append('(');
                method.argument().ifPresent(this::quoted);
                to.append(')');
            });
        } else {
            throw new IllegalStateException("a path has " + node.getClass());
        }
    }

    /** A step that a number, or an operator, has brackets before. */
    private void step(Expression base, Consumer<StringBuilder> step) {
        Node from = base instanceof JsonPath.Test test ? test.predicate() : base;
        boolean number = from instanceof JsonPath.Constant constant && constant.item() instanceof BigDecimal;
        boolean word =
                from instanceof JsonPath.Not || from instanceof JsonPath.IsUnknown || from instanceof JsonPath.Exists;
        brackets(number || word, () -> write(from, true));
        step.accept(out);
    }

    private void subscripts(JsonPath.Elements elements) {
        String before = "[";
        for (Range range : elements.ranges()) {
            out.append(before);
            write(range.from(), false);
            range.to().ifPresent(to -> {
                out.append(" to ");
                write(to, false);
            });
            before = ",";
        }
        out.append(']');
    }

    private static String levels(int least, int most) {
        if (least == 0 && most == Integer.MAX_VALUE) {
            return "";
        }
        return least == most ? "{" + level(least) + "}" : "{" + level(least) + " to " + level(most) + "}";
    }

    private static String level(int level) {
        return level == Integer.MAX_VALUE ? "last" : Integer.toString(level);
    }

    private void constant(Object item) {
        if (item instanceof String text) {
            quoted(text);
        } else if (item instanceof BigDecimal number) {
            out.append(number.toPlainString());
        } else {
            out.append(item == Nothing.NULL ? "null" : item.toString());
        }
    }

    private void quoted(String text) {
        out.append('"');
        for (int i = 0; i < text.length(); i++) {
            char letter = text.charAt(i);
            switch (letter) {
                case '\b' -> out.append("\\b");
                case '\f' -> out.append("\\f");
                case '\n' -> out.append("\\n");
                case '\r' -> out.append("\\r");
                case '\t' -> out.append("\\t");
                case '"' -> out.append("\\\"");
                case '\\' -> out.append("\\\\");
                default -> out.append(letter < ' ' ? String.format("\\u%04x", (int) letter) : String.valueOf(letter));
            }
        }
        out.append('"');
    }
}
