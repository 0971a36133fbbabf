/** What `roster` says without arguments: what it can do, and how to begin. */
export const firstPage = `roster keeps contacts and access credentials, in a store on this machine or in a
service over the network.

  Contacts      import and export files of any size, select by rules, plan,
                apply and undo changes
  Credentials   create, rotate and audit API keys and SMTP credentials
  Service       serve a store over HTTP, back it up while it is in use, and
                restore it

To begin with:

  roster contacts import contacts.csv              Import the contacts of a file
  roster contacts list --rule "status = Active"    List those a rule selects
  roster serve --key-file admin.key                Serve the store over HTTP

roster help lists all commands, and roster help contacts import explains one of
them. Without settings roster uses a local store in your data folder; roster
auth login sets a service.`
