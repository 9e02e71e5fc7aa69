package dev.millrace.sql.syntax;

import java.util.List;
import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.sql.SqlNodeList;
import org.apache.calcite.sql.SqlSelect;
import org.apache.calcite.sql.parser.SqlParserPos;

/** {@code SELECT items FROM from} and nothing more, for statements that stand for such queries. */
public final class PlainSelect {
    private PlainSelect() {}

    /** @param position where messages about the query point */
    public static SqlSelect of(SqlParserPos position, List<? extends SqlNode> items, SqlNode from) {
        SqlNodeList list = new SqlNodeList(items, position);
        return new SqlSelect(position, null, list, from, null, null, null, null, null, null, null, null, null);
    }
}
