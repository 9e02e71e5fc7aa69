package dev.millrace.sql.bind.scope;

import dev.millrace.sql.bind.scope.Scope.Column;
import java.util.ArrayList;
import java.util.List;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.type.RelDataTypeField;

/** Rows and the names of their columns. */
public record From(RelNode rel, List<Column> columns) {
    /** The rows of a relation or sub-query under one qualifier. */
    public static From of(RelNode rel, String qualifier, List<String> names) {
        return of(rel, qualifier, names, "");
    }

    /** The same under its own name, before which its schema may stand. */
    public static From of(RelNode rel, String qualifier, List<String> names, String schema) {
        List<Column> columns = new ArrayList<>();
        for (RelDataTypeField field : rel.getRowType().getFieldList()) {
            String name = names.get(field.getIndex());
            columns.add(new Column(qualifier, name, field.getIndex(), field.getType(), false, schema));
        }
        return new From(rel, columns);
    }
}
