package dev.millrace.server.pgcatalog;

import dev.millrace.server.role.Role;
import dev.millrace.server.role.Roles;
import dev.millrace.sql.statement.Privilege;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.udf.TableFunction;
import java.util.List;
import java.util.function.Consumer;

/** {@code aclexplode}: the items of an access list, {@code ann=r*w/boss}, as a row for each privilege. */
final class AccessRows implements TableFunction {
    static final String NAME = "aclexplode";
    static final List<Field> PARAMETERS = List.of(new Field("acl", DataType.array(DataType.TEXT), true));
    static final DataType ROW = DataType.row(List.of(
            new Field("grantor", DataType.INTEGER, true),
            new Field("grantee", DataType.INTEGER, true),
            new Field("privilege_type", DataType.TEXT, true),
            new Field("is_grantable", DataType.BOOLEAN, true)));

    private static final int PUBLIC = 0;

    private final Roles roles;

    AccessRows(Roles roles) {
        this.roles = roles;
    }

    @Override
    public void call(Object[] arguments, Consumer<Object[]> rows) {
        if (arguments[0] == null) {
            return;
        }
        for (Object item : (List<?>) arguments[0]) {
            if (item != null) {
                explode((String) item, rows);
            }
        }
    }

    private void explode(String item, Consumer<Object[]> rows) {
        int slash = item.lastIndexOf('/');
        int equals = item.lastIndexOf('=', slash);
        int grantee = equals == 0 ? PUBLIC : number(item.substring(0, equals));
        int grantor = number(item.substring(slash + 1));
        for (int at = equals + 1; at < slash; at++) {
            char letter = item.charAt(at);
            boolean grantable = at + 1 < slash && item.charAt(at + 1) == '*';
            for (Privilege privilege : Privilege.values()) {
                if (privilege.letter() == letter) {
                    rows.accept(new Object[] {grantor, grantee, privilege.name(), grantable});
                }
            }
            at += grantable ? 1 : 0;
        }
    }

    private int number(String role) {
        return roles.find(role).map(Role::id).orElse(PUBLIC);
    }
}
