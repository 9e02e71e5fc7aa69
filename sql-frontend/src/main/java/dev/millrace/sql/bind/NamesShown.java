package dev.millrace.sql.bind;

import dev.millrace.sql.syntax.Syntax;
import dev.millrace.sql.syntax.TypeSpec;
import java.util.ArrayList;
import java.util.List;
import org.apache.calcite.sql.SqlCall;
import org.apache.calcite.sql.SqlCharStringLiteral;
import org.apache.calcite.sql.SqlDataTypeSpec;
import org.apache.calcite.sql.SqlKind;
import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.sql.SqlNodeList;
import org.apache.calcite.sql.SqlOrderBy;
import org.apache.calcite.sql.SqlSelect;
import org.apache.calcite.sql.parser.SqlParserPos;

/**
 * {@code SELECT 't'::regclass} shows the name, as PostgreSQL does, where elsewhere the cast is a number to compare with: what is
 * selected last is cast once more, and the number of something becomes its name by that.
 */
final class NamesShown {
    private NamesShown() {}

    /** The query, of which nothing is changed: others read it too. */
    static Syntax.QueryText of(Syntax.QueryText query) {
        SqlNode shown = shown(query.query());
        return shown == query.query() ? query : new Syntax.QueryText(shown, query.emit(), query.text());
    }

    private static SqlNode shown(SqlNode query) {
        if (query instanceof SqlOrderBy ordered) {
            SqlNode inner = shown(ordered.query);
            return inner == ordered.query
                    ? query
                    : new SqlOrderBy(
                            ordered.getParserPosition(), inner, ordered.orderList, ordered.offset, ordered.fetch);
        }
        if (!(query instanceof SqlSelect select)
                || select.getSelectList().stream().noneMatch(NamesShown::isNumber)) {
            return query;
        }
        List<SqlNode> items = new ArrayList<>();
        for (SqlNode item : select.getSelectList()) {
            items.add(isNumber(item) ? named(item) : item);
        }
        SqlSelect copy = (SqlSelect) select.clone(select.getParserPosition());
        copy.setSelectList(new SqlNodeList(items, select.getSelectList().getParserPosition()));
        return copy;
    }

    private static boolean isNumber(SqlNode item) {
        if (item.getKind() == SqlKind.AS) {
            return isNumber(((SqlCall) item).operand(0));
        }
        return item.getKind() == SqlKind.CAST
                && ((SqlCall) item).operand(0) instanceof SqlCharStringLiteral
                && ((SqlCall) item).operand(1) instanceof SqlDataTypeSpec type
                && type.getTypeNameSpec() instanceof TypeSpec spec
                && spec.name().startsWith("reg")
                && spec.dimensions() == 0;
    }

    private static SqlNode named(SqlNode item) {
        SqlCall call = (SqlCall) item;
        SqlParserPos place = item.getParserPosition();
        return item.getKind() == SqlKind.AS
                ? call.getOperator().createCall(place, named(call.operand(0)), call.operand(1))
                : call.getOperator().createCall(place, call, call.operand(1));
    }
}
