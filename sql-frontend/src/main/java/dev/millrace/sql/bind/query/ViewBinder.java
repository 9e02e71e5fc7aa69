package dev.millrace.sql.bind.query;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.sql.algebra.TypeMapper;
import dev.millrace.sql.bind.relation.RelNodes;
import dev.millrace.sql.bind.scope.BoundQuery;
import dev.millrace.sql.bind.scope.From;
import dev.millrace.sql.bind.scope.QueryContext;
import dev.millrace.sql.bind.type.Errors;
import dev.millrace.sql.catalog.Relation;
import dev.millrace.sql.parser.StatementParser;
import dev.millrace.type.Field;
import dev.millrace.type.PlainNumeric;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.type.RelDataTypeField;
import org.apache.calcite.rex.RexNode;
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
        String schema = context.catalog().schemaOf(view.name());
        context.enterView(view.name());
        try (PlainNumeric.Binding meaning =
                context.catalog().numericIn(view.name()).bind()) {
            // in no scope but its own: names around it, also those of WITH, are not its
            BoundQuery bound =
                    new QueryBinder(context, Optional.empty()).bind(StatementParser.parseQuery(text), List.of());
            List<Integer> places = places(bound, fields);
            if (places.isEmpty()) {
                throw MillraceException.user(
                                SqlState.INVALID_TABLE_DEFINITION,
                                "view \"" + view.name() + "\" has other columns now than when it was made")
                        .withHint("CREATE OR REPLACE VIEW");
            }
            List<RexNode> all = RelNodes.references(bound.rel());
            RelNode rel = places.size() == all.size()
                    ? bound.rel()
                    : RelNodes.project(
                            bound.rel(),
                            places.stream().map(all::get).toList(),
                            view.schema().names());
            String qualifier = where.names.get(where.names.size() - 1);
            return From.of(rel, qualifier, view.schema().names(), schema);
        } catch (MillraceException e) {
            throw e.at(where.getParserPosition().getColumnNum()); // not a place in the view's text
        } finally {
            context.leaveView();
        }
    }

    /** Where the view's columns are in its query, whose star may be of more than when it was made; empty if they are not. */
    private static List<Integer> places(BoundQuery bound, List<Field> fields) {
        List<RelDataTypeField> columns = bound.rel().getRowType().getFieldList();
        boolean isSame = columns.size() == fields.size();
        List<Integer> places = new ArrayList<>();
        for (int i = 0; i < fields.size(); i++) {
            int place = isSame ? i : bound.names().indexOf(fields.get(i).name());
            boolean fits = place >= 0
                    && (isSame
                            || place == bound.names().lastIndexOf(fields.get(i).name()))
                    && TypeMapper.dataType(columns.get(place).getType())
                            .equals(fields.get(i).type());
            if (!fits) {
                return List.of();
            }
            places.add(place);
        }
        return places;
    }
}
