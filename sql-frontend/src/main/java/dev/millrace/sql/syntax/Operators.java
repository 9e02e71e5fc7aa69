package dev.millrace.sql.syntax;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.apache.calcite.sql.SqlBinaryOperator;
import org.apache.calcite.sql.SqlKind;
import org.apache.calcite.sql.SqlOperator;

/**
 * PostgreSQL's infix operators that Calcite has none of. Their precedence, on Calcite's scale, is for trees as text; how texts are read
 * is the grammar's.
 */
public final class Operators {
    // Calcite's scale: comparison 30, LIKE and BETWEEN 32, + 40, * 60, unary minus 80.
    private static final int OTHER = 34;
    private static final int MULTIPLICATIVE = 60;
    private static final int POWER = 70;
    private static final int AT_TIME_ZONE = 74;

    private static final Map<String, SqlOperator> INFIX = new HashMap<>();

    static {
        for (String name : List.of(
                "||",
                "~",
                "~*",
                "!~",
                "!~*",
                "~~",
                "~~*",
                "!~~",
                "!~~*",
                "&",
                "|",
                "#",
                "<<",
                ">>",
                "->",
                "->>",
                "#>",
                "#>>",
                "@>",
                "<@",
                "&&",
                "?",
                "?|",
                "?&",
                "#-",
                "@@",
                "@?",
                "^@",
                "overlaps",
                "like any",
                "like all",
                "not like any",
                "not like all",
                "ilike any",
                "ilike all",
                "not ilike any",
                "not ilike all")) {
            INFIX.put(name, operator(name, OTHER));
        }
        INFIX.put("%", operator("%", MULTIPLICATIVE));
        INFIX.put("^", operator("^", POWER));
        INFIX.put("at time zone", operator("at time zone", AT_TIME_ZONE));
    }

    private Operators() {}

    /** The operators that are written with signs. */
    public static List<String> symbols() {
        return INFIX.keySet().stream()
                .filter(name -> !Character.isLetter(name.charAt(0)))
                .toList();
    }

    /** The operator of this spelling. */
    public static SqlOperator infix(String name) {
        return Objects.requireNonNull(INFIX.get(name));
    }

    private static SqlOperator operator(String name, int precedence) {
        return new SqlBinaryOperator(name, SqlKind.OTHER, precedence, true, null, null, null);
    }
}
