-- Tokens of operators' scripts: what an operator, or an admin, may do through POST /api/operations. No token has it unless it was made with it.
alter table api_tokens drop constraint api_tokens_scopes;
alter table api_tokens add constraint api_tokens_scopes check (scopes <@ '{api:read,api:write,api:erase,act:operator,act:admin}' and cardinality(scopes) > 0);
