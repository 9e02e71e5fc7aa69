package dev.millrace.sql.bind.scope;

import java.util.List;
import org.apache.calcite.sql.SqlIdentifier;
import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.sql.parser.SqlParserPos;

/**
 * A name in an operand of a function whose body takes the call's place: it means what it means where the call is, also inside
 * a query of the body that has a relation of the same name.
 */
final class OperandName extends SqlIdentifier {
    private final Scope scope;

    /** @param scope of the call */
    OperandName(List<String> names, SqlParserPos position, Scope scope) {
        super(names, position);
        this.scope = scope;
    }

    /** Where the name is looked for first. */
    Scope scope() {
        return scope;
    }

    @Override
    public SqlNode clone(SqlParserPos position) {
        return new OperandName(names, position, scope);
    }
}
