/**
 * A type by its name: words of several tokens were joined before, so a name is one identifier. A row type has fields:
 * {@code ROW(a integer, b text)}.
 */
SqlTypeNameSpec TypeSpec() :
{
    final SqlIdentifier name;
    int first = -1;
    int second = -1;
    int dimensions = 0;
    final List<SqlIdentifier> fieldNames = new ArrayList<SqlIdentifier>();
    final List<SqlTypeNameSpec> fieldTypes = new ArrayList<SqlTypeNameSpec>();
    final Span s = Span.of();
}
{
    (
        <ROW> { name = new SqlIdentifier("row", getPos()); s.add(name); }
        <LPAREN> TypeSpecField(fieldNames, fieldTypes) ( <COMMA> TypeSpecField(fieldNames, fieldTypes) )* <RPAREN>
    |
        name = CompoundIdentifier() { s.add(name); }
    )
    [
        LOOKAHEAD(2)
        <LPAREN> first = UnsignedIntLiteral() [ <COMMA> second = UnsignedIntLiteral() ] <RPAREN>
    ]
    (
        LOOKAHEAD(2)
        <LBRACKET> [ UnsignedIntLiteral() ] <RBRACKET> { dimensions++; }
    )*
    {
        return new TypeSpec(name, first, second, dimensions, fieldNames, fieldTypes, s.end(this));
    }
}

/** A field of a row type. */
void TypeSpecField(List<SqlIdentifier> names, List<SqlTypeNameSpec> types) :
{
    final SqlIdentifier name;
    final SqlTypeNameSpec type;
}
{
    name = SimpleIdentifier() type = TypeSpec()
    {
        names.add(name);
        types.add(type);
    }
}

/** {@code x::type} takes the last operand only: it binds tighter than anything but a subscript or a dot. */
void InfixCast(List<Object> list, ExprContext exprContext, Span s) :
{
    final SqlDataTypeSpec type;
}
{
    <INFIX_CAST> type = DataType()
    {
        Operators.castLast(list, type);
    }
}

/** PostgreSQL's operators that Calcite does not know: the token's text names one. */
void OtherOperator(List<Object> list, ExprContext exprContext, Span s) :
{
}
{
    <OTHER_OPERATOR>
    {
        checkNonQueryExpression(exprContext);
        list.add(new SqlParserUtil.ToTreeListItem(Operators.infix(getToken(0).image), getPos()));
    }
    AddExpression2b(list, ExprContext.ACCEPT_SUB_QUERY)
}

/** A query with ORDER BY and LIMIT. */
SqlNode MillraceQuery() :
{
    final SqlNode e;
}
{
    e = OrderedQueryOrExpr(ExprContext.ACCEPT_QUERY) { return e; }
}

/** What is behind FROM, or behind USING of DELETE. */
SqlNode MillraceFrom() :
{
    final SqlNode e;
}
{
    e = FromClause() { return e; }
}

/** A scalar expression. */
SqlNode MillraceExpression() :
{
    final SqlNode e;
}
{
    e = Expression(ExprContext.ACCEPT_SUB_QUERY) { return e; }
}

/** {@code SEMI JOIN} and {@code ANTI JOIN}: left rows with a partner, or without one. */
JoinType SemiOrAntiJoin() :
{
    final JoinType type;
}
{
    [ <LEFT> ]
    ( <SEMI> { type = JoinType.LEFT_SEMI_JOIN; } | <ANTI> { type = JoinType.LEFT_ANTI_JOIN; } )
    <JOIN> { return type; }
}
