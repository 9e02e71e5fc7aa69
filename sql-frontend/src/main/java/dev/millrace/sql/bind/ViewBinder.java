package dev.millrace.sql.bind;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.sql.algebra.TypeMapper;
import dev.millrace.sql.bind.FromBinder.From;
import dev.millrace.sql.catalog.Relation;
import dev.millrace.sql.parser.StatementParser;
import dev.millrace.type.Field;
import java.util.List;
import java.util.Optional;
import org.apache.calcite.rel.type.RelDataTypeField;
import org.apache.calcite.sql.SqlIdentifier;

/** Puts the query of a user's view in the place of its name. */
final class ViewBinder {
    private final QueryContext context;

    ViewBinder(QueryContext context) {
        this.context = context;
    }

    From bind(Relation view, SqlIdentifier where) {
        String text = context.catalog()
                .viewQuery(view.name())
                .orElseThrow(() -> Errors.error(
                        SqlState.UNDEFINED_TABLE, "relation \"" + view.name() + "\" does not exist", where));
        List<Field> fields = view.schema().fields();
        context.enterView(view.name());
        try {
            // in no scope but its own: names around it, also those of WITH, are not its
            QueryBinder.Bound bound =
                    new QueryBinder(context, Optional.empty()).bind(StatementParser.parseQuery(text), List.of());
            List<RelDataTypeField> columns = bound.rel().getRowType().getFieldList();
            boolean same = columns.size() == fields.size();
            for (int i = 0; same && i < fields.size(); i++) {
                same = TypeMapper.dataType(columns.get(i).getType())
                        .equals(fields.get(i).type());
            }
            if (!same) {
                throw MillraceException.user(
                                SqlState.INVALID_TABLE_DEFINITION,
                                "view \"" + view.name() + "\" has other columns now than when it was made")
                        .withHint("CREATE OR REPLACE VIEW");
            }
            String qualifier = where.names.get(where.names.size() - 1);
            return From.of(bound.rel(), qualifier, view.schema().names());
        } catch (MillraceException e) {
            throw e.at(where.getParserPosition().getColumnNum()); // not a place in the view's text
        } finally {
            context.leaveView();
        }
    }
}
