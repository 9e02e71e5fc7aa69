package dev.millrace.sql.bind.scope;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.calcite.sql.SqlCall;
import org.apache.calcite.sql.SqlIdentifier;
import org.apache.calcite.sql.SqlKind;
import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.sql.util.SqlShuttle;

/**
 * Names that a SELECT list gives, where no column is called so: in WHERE, HAVING, QUALIFY, expressions of ORDER BY and, of
 * those before it, in the list itself. PostgreSQL refuses them there, DuckDB and others do not.
 */
public final class Aliases {
    private final List<SqlNode> items;
    private final Scope scope;

    public Aliases(List<SqlNode> items, Scope scope) {
        this.items = List.copyOf(items);
        this.scope = scope;
    }

    /** An expression with what such names stand for in their place. */
    public SqlNode inPlace(SqlNode node) {
        return inPlace(node, items.size());
    }

    /** @param before only names that items before this one give */
    public SqlNode inPlace(SqlNode node, int before) {
        return node.accept(new SqlShuttle() {
            @Override
            public SqlNode visit(SqlIdentifier name) {
                return name.isSimple() && !name.isStar() && !isColumn(name)
                        ? named(name, before).orElse(name)
                        : name;
            }

            @Override
            public SqlNode visit(SqlCall call) {
                return call.isA(SqlKind.QUERY) ? call : super.visit(call);
            }
        });
    }

    private boolean isColumn(SqlIdentifier name) {
        for (Optional<Scope> around = Optional.of(scope);
                around.isPresent();
                around = around.get().outer()) {
            if (around.get().has(name.getSimple())) {
                return true;
            }
        }
        return false;
    }

    private Optional<SqlNode> named(SqlIdentifier name, int before) {
        List<SqlNode> found = new ArrayList<>();
        for (int i = 0; i < Math.min(before, items.size()); i++) {
            SqlNode item = items.get(i);
            if (item.getKind() == SqlKind.AS
                    && ((SqlIdentifier) ((SqlCall) item).operand(1)).getSimple().equals(name.getSimple())) {
                found.add(inPlace(((SqlCall) item).operand(0), i));
            }
        }
        return found.size() == 1 ? Optional.of(found.get(0)) : Optional.empty();
    }
}
