package dev.millrace.sql.bind.change;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.sql.bind.scope.QueryContext;
import dev.millrace.sql.bind.scope.RelationLookUp;
import dev.millrace.sql.bind.type.Coercions;
import dev.millrace.sql.bind.type.Coercions.Strength;
import dev.millrace.sql.bind.type.Errors;
import dev.millrace.sql.catalog.ColumnRule;
import dev.millrace.sql.catalog.Relation;
import dev.millrace.sql.syntax.Syntax;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.sql.SqlIdentifier;
import org.apache.calcite.sql.SqlNode;

/** The relation that a statement changes, and its columns. */
record ChangeTarget(QueryContext context, Relation relation) {

    /** What takes rows: a table or a stream. */
    static ChangeTarget writable(QueryContext context, SqlIdentifier name) {
        Relation relation = RelationLookUp.of(context, name);
        if (relation.kind() != Relation.Kind.STREAM && relation.kind() != Relation.Kind.TABLE) {
            throw wrongKind(relation, "cannot insert into", name);
        }
        return new ChangeTarget(context, relation);
    }

    /** What has rows that can be changed. */
    static ChangeTarget table(QueryContext context, SqlIdentifier name, String verb) {
        Relation relation = RelationLookUp.of(context, name);
        if (relation.kind() != Relation.Kind.TABLE) {
            throw wrongKind(relation, "cannot " + verb, name);
        }
        requireChanging(relation, verb, name);
        return new ChangeTarget(context, relation);
    }

    /** 42809 of a table whose rows are only added. */
    static void requireChanging(Relation relation, String verb, SqlNode where) {
        if (relation.kind() == Relation.Kind.TABLE && relation.appendOnly()) {
            throw Errors.error(
                            SqlState.WRONG_OBJECT_TYPE,
                            "cannot " + verb + " table \"" + relation.name() + "\": it is APPEND ONLY",
                            where)
                    .withHint("CREATE TABLE without APPEND ONLY, for rows that change");
        }
    }

    private static MillraceException wrongKind(Relation relation, String verb, SqlNode where) {
        String kind = relation.kind().name().toLowerCase(Locale.ROOT).replace('_', ' ');
        MillraceException error =
                Errors.error(SqlState.WRONG_OBJECT_TYPE, verb + " " + kind + " \"" + relation.name() + "\"", where);
        return relation.kind() == Relation.Kind.VIEW ? error.withHint("change the tables that it reads") : error;
    }

    int size() {
        return relation.schema().size();
    }

    Field field(int column) {
        return relation.schema().field(column);
    }

    Optional<ColumnRule> rule(int column) {
        return relation.rules().of(field(column).name());
    }

    /** The places of named columns; all when none are named. */
    List<Integer> columns(List<SqlIdentifier> names) {
        List<Integer> columns = new ArrayList<>();
        for (SqlIdentifier name : names) {
            int column = column(name);
            if (columns.contains(column)) {
                throw Errors.error(
                        SqlState.DUPLICATE_COLUMN,
                        "column \"" + name.getSimple() + "\" specified more than once",
                        name);
            }
            columns.add(column);
        }
        if (names.isEmpty()) {
            for (int column = 0; column < size(); column++) {
                columns.add(column);
            }
        }
        return columns;
    }

    int column(SqlIdentifier name) {
        int column = relation.schema().indexOf(name.getSimple());
        if (column < 0) {
            throw Errors.suggest(
                    Errors.error(
                            SqlState.UNDEFINED_COLUMN,
                            "column \"" + name.getSimple() + "\" of relation \"" + relation.name()
                                    + "\" does not exist",
                            name),
                    name.getSimple(),
                    relation.schema().names());
        }
        return column;
    }

    /** A value as one of a column. */
    RexNode assign(QueryContext in, RexNode value, int column, SqlNode where) {
        DataType type = Coercions.type(value);
        DataType wanted = field(column).type();
        if (!Coercions.isUnknown(value) && !Coercions.allowed(type, wanted, Strength.ASSIGNMENT)) {
            throw Errors.error(
                            SqlState.DATATYPE_MISMATCH,
                            "column \"" + field(column).name() + "\" is of type " + Coercions.name(wanted)
                                    + " but expression is of type " + Coercions.name(type),
                            where)
                    .withHint("cast the expression, such as x::" + Coercions.name(wanted));
        }
        return in.coercions().convert(value, wanted, Strength.ASSIGNMENT, where);
    }

    /** A row that is inserted may say this column's value; 428C9 if not. */
    void requireGivable(int column, Syntax.Overriding overriding, SqlNode where) {
        ColumnRule.Kind kind = rule(column).map(ColumnRule::kind).orElse(ColumnRule.Kind.DEFAULT);
        boolean overridden = overriding == Syntax.Overriding.SYSTEM_VALUE;
        if (kind == ColumnRule.Kind.GENERATED || kind == ColumnRule.Kind.IDENTITY_ALWAYS && !overridden) {
            throw madeAlways(column, "INSERT", where);
        }
    }

    /** No value can be given to a column whose values are made from others, or always. */
    MillraceException madeAlways(int column, String verb, SqlNode where) {
        MillraceException error = Errors.error(
                SqlState.GENERATED_ALWAYS,
                verb.equals("INSERT")
                        ? "cannot insert a non-DEFAULT value into column \""
                                + field(column).name() + "\""
                        : "column \"" + field(column).name() + "\" can only be updated to DEFAULT",
                where);
        boolean generated = rule(column).orElseThrow().kind() == ColumnRule.Kind.GENERATED;
        if (generated) {
            return error.withHint("it is computed from other columns of the row");
        }
        return verb.equals("INSERT") ? error.withHint("OVERRIDING SYSTEM VALUE overrides that") : error;
    }
}
